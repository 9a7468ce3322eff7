import { Field, OptionalField } from './field.js';
import { ADDRESS, AMOUNT_OR_ZERO, amountOf, TOKEN, TOKEN_ID } from './field-rules.js';

export class TransferInput {
  @Field(amountOf('token'), 'How much, in whole units of the token')
  amount!: string;

  @Field(ADDRESS, 'The receiver')
  to!: string;

  @OptionalField(TOKEN, 'What to send: an address or a listed symbol; the native token when left out')
  token?: string;
}

export class ApproveInput {
  @Field(TOKEN, 'An ERC-20 token: its address or a listed symbol')
  token!: string;

  @Field(ADDRESS, 'Who may take the tokens')
  spender!: string;

  @Field(amountOf('token', AMOUNT_OR_ZERO), 'Exactly how much, in whole units of the token; 0 takes an approval back')
  amount!: string;
}

export class TransferERC721Input {
  @Field(ADDRESS, 'The contract of the collection')
  contractAddress!: string;

  @Field(ADDRESS, 'The receiver')
  to!: string;

  @Field(TOKEN_ID, 'Number of the token, in digits')
  tokenId!: string;
}

export class MintERC721Input {
  @Field(ADDRESS, 'The contract of the collection, which has mint(address,uint256)')
  contractAddress!: string;

  @Field(TOKEN_ID, 'Number of the token, in digits')
  tokenId!: string;

  @OptionalField(ADDRESS, 'Who gets it; the wallet when left out')
  to?: string;
}
