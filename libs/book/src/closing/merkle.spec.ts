import { hash } from 'node:crypto';

import { followPath, MerkleTree, type MerkleStep } from './merkle.js';

const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** Leaves, the root, and the SHA-256 of all paths in JSON, of the first closings: those that were signed stay true. */
const SIGNED: [leaves: number, root: string, paths: string][] = [
  [
    0,
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
  ],
  [
    1,
    'fbaf891f56189d230252e3bd440bde2f980a4808903a9b0cc323156fe77d4ed6',
    'cf1cbb66a638b4860a516671fb74850e6ccf787fe6c4c8d29e9c04efe880bd05',
  ],
  [
    2,
    '96d0bfb19bfcd3bcef171acca70ce127b4616cdc3a333a21d0be59093fac26fc',
    '0d1731d9e212f71fa45114f1dbf06d519bc2a0d231f7203de6523b7fbc0ad9de',
  ],
  [
    3,
    '5f34221125f6dacde6615cbae2a9154d5ad3d35abeba6c08263ade37cb2153a7',
    'bf545031f1c074a144fd18c3548cba3b5f6f403765e677939a5678d8e2199f3f',
  ],
  [
    7,
    'e53360acf92de00d1a5ddd773317bfc37de5f8b04b5c623251dc5005be204223',
    '234ce0eb5ce9366b28699a5a4153635ce977d840c7b19fb3a3eaef05885017f5',
  ],
  [
    8,
    'b843e3882f0e67671ce945ede7c163d4b50a987f918b31243c87cab35540f65e',
    '5ecdeaa08f5ac16ca3e6f73777e06dd59371b81421f6c87cbd6b77f205616475',
  ],
  [
    2001,
    'bb963c02a844c99bbea4aaaf2ef275e2b61925c112af10bdd0f6b5d92e484256',
    '6adb5dd4fdf4072c49ca0d9436320093ed251529de05c33d55f2f5774819abce',
  ],
];

describe('the tree of a closing', () => {
  it.each(SIGNED)('has over %i bookings the root and the paths that were signed before', (leaves, root, paths) => {
    const tree = new MerkleTree();
    const hashes = Array.from({ length: leaves }, (_, index) => sha256(`booking ${index}`));
    const all = hashes.map((content): MerkleStep[] => {
      const path: MerkleStep[] = [];
      tree.add(content, path);
      return path;
    });
    expect(tree.root()).toBe(root);
    expect(sha256(JSON.stringify(all))).toBe(paths);
    expect(hashes.every((content, index) => followPath(content, all[index]!) === root)).toBe(true);
  });
});
