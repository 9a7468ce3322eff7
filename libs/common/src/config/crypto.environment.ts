import { IsIn } from 'class-validator';

import { Setting } from './setting.js';

/** Read by libs/crypto itself, which is needed while the settings are still being read. */
export class CryptoEnvironment {
  @Setting({
    name: 'TOLLGATE_SECP256K1',
    help: 'Code that signs and recovers: native, wasm (slower), or auto: native where its binary can be loaded, otherwise wasm.',
  })
  @IsIn(['auto', 'native', 'wasm'])
  readonly secp256k1: 'auto' | 'native' | 'wasm' = 'auto';
}
