export { AcceptanceEnvironment } from './acceptance.environment.js';
export { AgentEnvironment, TargetEnvironment } from './agent.environment.js';
export { ExplorerEnvironment } from './explorer.environment.js';
export { ConfigurationError } from './configuration-error.js';
export { listSecrets } from './list-secrets.js';
export { openWhenUp } from './open-when-up.js';
export { CryptoEnvironment, LogEnvironment, ShutdownEnvironment } from './process.environment.js';
export { PaymentEnvironment, type PaymentPolicy } from './payment.environment.js';
export { toBaseUnits, type TokenUnit } from './payments/base-units.js';
export { nameInFile, nameOption, type OptionNames, VARIABLE_NAMES } from './payments/option-names.js';
export { chainsOf } from './payments/payments.js';
export { listOptions, listOptionsInLowerCase } from './payments/list-options.js';
export { OwnChainEnvironment, PaymentsFileEnvironment } from './payments/payments-file.environment.js';
export type { PaymentChain, PaymentOption, Payments } from './payments/payments.js';
export { usePaymentsFile } from './payments/use-payments-file.js';
export { ProxyEnvironment } from './proxy.environment.js';
export * from './read-environment.js';
export { expandVariables, VariableError } from './files/expand-variables.js';
export { hintAt, keysOf, parseEntry, reportUnknownKeys, type ParsedEntry } from './files/parse-entry.js';
export { describeProblems, formatPlace, parseYaml, type FileProblem, type Place } from './files/parse-yaml.js';
export { readSettingFile, readTextFile } from './files/read-setting-file.js';
export { RedisEnvironment } from './redis.environment.js';
export { RpcEnvironment } from './rpc.environment.js';
export { findUrlProblems } from './url-problems.js';
export {
  IsGwei,
  IsIntIn,
  IsRandomText,
  parseGwei,
  Setting,
  SettingGroup,
  type EnvironmentClass,
  type SettingDescription,
} from './setting.js';
export { SignedPaymentsEnvironment, type SignedAsset } from './signed-payments.environment.js';
export { describeSettings, findDifferences, type SettingDifference } from './compare-settings.js';
