export { checkCrypto } from './check-crypto.js';
export { keccak256Hex, keccak256OfBytes } from './keccak.js';
export { createPreimageSigner, type PreimageSigner, type Signature } from './preimage-signer.js';
export { recoverAccount } from './recover-account.js';
