import type { ProtocolEnvironment, ProtocolKind, ProtocolKinds } from './protocol.js';

/** A protocol for one of the kit's kinds, on the listed chains. The first one of a kind is used. */
export interface ProtocolPlugin<Kind extends ProtocolKind = ProtocolKind> {
  kind: Kind;
  name: string;
  /** The chains it is deployed on; `any` if it uses an external service. */
  chainIds: readonly number[] | 'any';
  create(environment: ProtocolEnvironment): ProtocolKinds[Kind];
}
