import type { ProtocolPlugin } from '../../protocols/plugin.js';
import type { ProtocolKind } from '../../protocols/protocol.js';
import type { Operation } from './operation.js';

/** Additional operations, for protocols that fit none of the kit's kinds. */
export interface OperationPlugin {
  kind: 'operations';
  name: string;
  chainIds: readonly number[] | 'any';
  operations: readonly Operation[];
}

/** A third-party extension of the kit, in one file. See `docs/write-a-plugin.md`. */
export type Plugin = { [Kind in ProtocolKind]: ProtocolPlugin<Kind> }[ProtocolKind] | OperationPlugin;
