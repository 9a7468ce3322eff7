/** What the help of the commands says of the settings that `readKitSettings` reads. */
export const KIT_SETTINGS_USAGE = `  WALLET_PRIVATE_KEY  private key of the account to use, on a devnet too; or WALLET_PRIVATE_KEY_FILE, the path of a
                      file with it. Without it, a devnet's first account is used
  POLICY_FILE         a JSON file with the spending policy: operations, recipients, contracts, maxPerOperation, maxPerDay,
                      maxSlippageBps. With recipients or amounts, only listed tokens and those that it names are
                      bought or put into pools; amounts and recipients do not limit borrowing, redeeming and perps
  PAYMENT_RPC_URLS    JSON-RPC endpoints of further chains on which payForResource pays too, separated by commas; or
                      PAYMENT_RPC_URLS_FILE. In the policy, 8453:USDC is the token of chain 8453
  EXPLORER_URL        block explorer, for links to transactions
  TOLLGATE_STATE_DIR  where payments are kept, and where a running devnet is found (default: .tollgate)`;
