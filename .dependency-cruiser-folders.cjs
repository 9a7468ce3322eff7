// Folders that need each other are one folder. A second run, because a folder's specs and test helpers may import what the
// product's files may not, and its index may import what is below it.
const { options } = require('./.dependency-cruiser.cjs');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-folder-cycles',
      comment: 'Let one of the folders need the other.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: { ...options, exclude: { path: [...options.exclude.path, '\\.spec\\.ts$', '(^|/)test/', '/index\\.ts$'] } },
};
