import { sha256 } from '../bookings/digests.js';

/** One step from a leaf to the root: the hash beside it, and its side. */
export interface MerkleStep {
  readonly side: 'left' | 'right';
  readonly hash: string;
}

/** SHA-256 with a byte that tells leaves and nodes apart, so that no node can be passed off as a leaf. */
const hashLeaf = (content: string): string => sha256(Buffer.from(`00${content}`, 'hex'));
const hashNode = (left: string, right: string): string => sha256(Buffer.from(`01${left}${right}`, 'hex'));

/** The root over content hashes, 64 hexadecimal digits. An odd node at the end of a row moves up as it is. */
export function merkleRoot(contentHashes: readonly string[]): string {
  return rowsOf(contentHashes).at(-1)?.[0] ?? sha256('');
}

/** The path from one of the content hashes to the root. @throws RangeError for an index that is none of theirs */
export function merklePath(contentHashes: readonly string[], index: number): MerkleStep[] {
  if (index < 0 || index >= contentHashes.length) throw new RangeError(`there is no leaf ${index}`);
  const path: MerkleStep[] = [];
  let at = index;
  for (const row of rowsOf(contentHashes).slice(0, -1)) {
    const sibling = row[at % 2 === 0 ? at + 1 : at - 1];
    if (sibling !== undefined) path.push({ side: at % 2 === 0 ? 'right' : 'left', hash: sibling });
    at = Math.floor(at / 2);
  }
  return path;
}

/** The root that a content hash and its path lead to. */
export function followPath(contentHash: string, path: readonly MerkleStep[]): string {
  return path.reduce(
    (node, { side, hash }) => (side === 'left' ? hashNode(hash, node) : hashNode(node, hash)),
    hashLeaf(contentHash),
  );
}

function rowsOf(contentHashes: readonly string[]): string[][] {
  const rows = [contentHashes.map(hashLeaf)];
  for (let row = rows[0] ?? []; row.length > 1; row = rows.at(-1) ?? []) {
    const above: string[] = [];
    for (let index = 0; index < row.length; index += 2) {
      const [left = '', right] = [row[index], row[index + 1]];
      above.push(right === undefined ? left : hashNode(left, right));
    }
    rows.push(above);
  }
  return rows;
}
