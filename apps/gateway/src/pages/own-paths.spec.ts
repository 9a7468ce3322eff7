import { createRoute } from '../../test/start-gateway.js';
import { findOwnPaths } from './register-pages.js';

const routeAt = (path: string, methods = ['GET']) =>
  createRoute(() => ({ status: 200, headers: [], body: Buffer.of() }), { path, methods });

describe('the paths of the pages', () => {
  it('are all served beside routes of other paths', () => {
    const { served, notices } = findOwnPaths(
      ['/api/weather', '/payments', '/v1/*', '/pay.json'].map((path) => routeAt(path)),
    );
    expect([...served]).toEqual(['front', 'llms', 'pay']);
    expect(notices).toEqual([]);
  });

  it.each([
    ['/', ['llms', 'pay']],
    ['/*', ['front']],
    ['/:name', ['front']],
    ['/llms.txt', ['front', 'pay']],
    ['/pay', ['front', 'llms']],
    ['/pay/:id', ['front', 'llms']],
    ['/pay/*', ['front', 'llms']],
    ['/:tenant/:id', ['front', 'llms']],
    ['/:tenant/assets/logo.png', ['front', 'llms']],
  ])('are left to the seller who sells %s', (path, expected) => {
    const { served, notices } = findOwnPaths([routeAt('/api/weather'), routeAt(path)]);
    expect([...served]).toEqual(expected);
    expect(notices).toHaveLength(3 - expected.length);
    for (const notice of notices) expect(notice).toContain(`your route ${path} has this path`);
  });
});
