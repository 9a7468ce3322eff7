import { z } from 'zod';

import { sha256 } from '../bookings/digests.js';

/** One step from a leaf to the root: the hash beside it, and its side. */
export const merkleStep = z.object({ side: z.enum(['left', 'right']), hash: z.string().regex(/^[0-9a-f]{64}$/) });
export type MerkleStep = z.output<typeof merkleStep>;

interface Node {
  readonly hash: string;
  /** Rows below it; leaves have none. */
  readonly height: number;
  /** The paths of the leaves below it, as far as they are asked for. */
  readonly paths: readonly MerkleStep[][];
}

/** SHA-256 with a byte that tells leaves and nodes apart, so that no node can be passed off as a leaf. */
const hashLeaf = (content: string): string => sha256(Buffer.from(`00${content}`, 'hex'));
const hashNode = (left: string, right: string): string => sha256(Buffer.from(`01${left}${right}`, 'hex'));

/**
 * The tree over content hashes, 64 hexadecimal digits each. An odd node at the end of a row moves up as it is. Leaves are
 * not kept: a day may have more of them than memory holds.
 */
export class MerkleTree {
  /** The tops of complete trees, which get smaller: one for each bit that is set in the number of leaves. */
  readonly #tops: Node[] = [];

  /** @param path gets the steps from this leaf to the root; it is complete once the root is asked for */
  add(contentHash: string, path?: MerkleStep[]): void {
    let node: Node = { hash: hashLeaf(contentHash), height: 0, paths: path === undefined ? [] : [path] };
    for (let left = this.#tops.at(-1); left?.height === node.height; left = this.#tops.at(-1)) {
      this.#tops.pop();
      node = join(left, node);
    }
    this.#tops.push(node);
  }

  /** Ends the tree: nothing can be added any more. */
  root(): string {
    let node = this.#tops.pop();
    if (node === undefined) return sha256('');
    for (let left = this.#tops.pop(); left !== undefined; left = this.#tops.pop()) node = join(left, node);
    return node.hash;
  }
}

/** The root that a content hash and its path lead to. */
export function followPath(contentHash: string, path: readonly MerkleStep[]): string {
  return path.reduce(
    (node, { side, hash }) => (side === 'left' ? hashNode(hash, node) : hashNode(node, hash)),
    hashLeaf(contentHash),
  );
}

function join(left: Node, right: Node): Node {
  for (const path of left.paths) path.push({ side: 'right', hash: right.hash });
  for (const path of right.paths) path.push({ side: 'left', hash: left.hash });
  return {
    hash: hashNode(left.hash, right.hash),
    height: left.height + 1,
    paths: [...left.paths, ...right.paths],
  };
}
