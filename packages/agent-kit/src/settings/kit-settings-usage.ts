/** What the help of the commands says of the settings that `readKitSettings` reads. */
export const KIT_SETTINGS_USAGE = `  WALLET_PRIVATE_KEY  key of the account that acts, on a devnet too; or WALLET_PRIVATE_KEY_FILE, the path of a file with
                      it. Without it a devnet's first account acts
  POLICY_FILE         a JSON file with the spending policy: operations, recipients, contracts, maxPerOperation, maxPerDay,
                      maxSlippageBps
  EXPLORER_URL        links to transactions lead there
  TOLLGATE_STATE_DIR  where payments are kept, and where a running devnet is found (default: .tollgate)`;
