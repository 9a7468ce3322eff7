import { Field, OptionalField } from './field.js';
import { ADDRESS, AMOUNT_OR_ZERO, amountField, TOKEN, TOKEN_ID } from './field-rules.js';

export class TransferInput {
  @Field(amountField('token'), 'Amount, in whole units of the token')
  amount!: string;

  @Field(ADDRESS, 'Address of the recipient')
  to!: string;

  @OptionalField(TOKEN, 'Token to send: an address or a listed symbol; if omitted, the native token')
  token?: string;
}

export class ApproveInput {
  @Field(TOKEN, 'An ERC-20 token: its address or a listed symbol')
  token!: string;

  @Field(ADDRESS, 'Address of the spender, which may take the tokens')
  spender!: string;

  @Field(amountField('token', AMOUNT_OR_ZERO), 'Exact amount, in whole units of the token; 0 revokes an approval')
  amount!: string;
}

export class TransferERC721Input {
  @Field(ADDRESS, 'Contract address of the collection')
  contractAddress!: string;

  @Field(ADDRESS, 'Address of the recipient')
  to!: string;

  @Field(TOKEN_ID, 'Token id, as decimal digits')
  tokenId!: string;
}

export class MintERC721Input {
  @Field(ADDRESS, 'Contract address of the collection, which has mint(address,uint256)')
  contractAddress!: string;

  @Field(TOKEN_ID, 'Token id, as decimal digits')
  tokenId!: string;

  @OptionalField(ADDRESS, 'Address of the recipient; if omitted, the wallet')
  to?: string;
}
