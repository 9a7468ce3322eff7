import { join } from 'node:path';

import { repositoryRoot, stateDirectory } from './repository.js';

describe('the folder of the state', () => {
  const before = process.env['TOLLGATE_STATE_DIR'];
  afterEach(() => {
    if (before === undefined) delete process.env['TOLLGATE_STATE_DIR'];
    else process.env['TOLLGATE_STATE_DIR'] = before;
  });

  it('is TOLLGATE_STATE_DIR, and .tollgate of the repository where that is empty', () => {
    process.env['TOLLGATE_STATE_DIR'] = '/somewhere/else';
    expect(stateDirectory()).toBe('/somewhere/else');
    process.env['TOLLGATE_STATE_DIR'] = '';
    expect(stateDirectory()).toBe(join(repositoryRoot(), '.tollgate'));
  });
});
