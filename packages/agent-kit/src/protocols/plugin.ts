import type { Operation } from '../operations/define/operation.js';
import type { ProtocolEnvironment, ProtocolKind, ProtocolKinds } from './protocol.js';

/** A protocol for one of the kit's kinds, on the listed chains. The first one of a kind is used. */
export interface ProtocolPlugin<Kind extends ProtocolKind = ProtocolKind> {
  kind: Kind;
  name: string;
  /** The chains it is deployed on; `any` if it uses an external service. */
  chainIds: readonly number[] | 'any';
  create(environment: ProtocolEnvironment): ProtocolKinds[Kind];
}

/** Additional operations, for protocols that fit none of the kit's kinds. */
export interface OperationPlugin {
  kind: 'operations';
  name: string;
  chainIds: readonly number[] | 'any';
  operations: readonly Operation[];
}

/** A third-party extension of the kit, in one file. See `docs/write-a-plugin.md`. */
export type Plugin = { [Kind in ProtocolKind]: ProtocolPlugin<Kind> }[ProtocolKind] | OperationPlugin;
