// Imports are in three groups with a blank line between: node:, packages, files of this package. Within a group they
// are in the order of their names, parents first. Imports for their side effect come before all.
const GROUPS = ['a Node module', 'a package', 'a file'];

function describe(source) {
  const group = source.startsWith('node:') ? 0 : source.startsWith('.') ? 2 : 1;
  const ups = group === 2 ? source.split('../').length - 1 : 0;
  return { group, ups, name: source.replace(/\.m?js$/, '').toLowerCase() };
}

function isBefore(one, other) {
  if (one.group !== other.group) return one.group < other.group;
  if (one.ups !== other.ups) return one.ups > other.ups;
  return one.name <= other.name;
}

/** A rule in ESLint's form, which oxlint takes. */
const importOrder = {
  meta: { type: 'layout', schema: [], docs: { description: 'order and groups of imports' } },
  create: (context) => ({
    Program({ body }) {
      const imports = body.filter(({ type, specifiers }) => type === 'ImportDeclaration' && specifiers.length > 0);
      imports.slice(1).forEach((node, index) => {
        const before = imports[index];
        const [one, other] = [describe(before.source.value), describe(node.source.value)];
        if (!isBefore(one, other)) {
          context.report({
            node,
            message: `${GROUPS[other.group]} imported too late: before "${before.source.value}".`,
          });
          return;
        }
        const isApart = context.sourceCode.lines.slice(before.loc.end.line, node.loc.start.line - 1).includes('');
        if (isApart !== (one.group !== other.group)) {
          context.report({ node, message: 'A blank line stands between groups of imports, and only there.' });
        }
      });
    },
  }),
};

/** The plugin of this repository's own rules, for .oxlintrc.json. */
export default { meta: { name: 'tollgate' }, rules: { 'import-order': importOrder } };
