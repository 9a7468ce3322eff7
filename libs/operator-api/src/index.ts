export { OPERATOR_ROUTES, type OperatorRoute } from './routes.js';
export type { AnswerOfRoute, AskedOfRoute, RouteName, SentToRoute } from './route-types.js';
export type {
  BookHealth,
  LimitToday,
  OperatorFill,
  OperatorJob,
  OperatorJobPage,
  OperatorRefund,
  OperatorRefundPage,
  OperatorWallet,
  ReconcileAnswer,
  SellerFacts,
  SellerOption,
  Trouble,
} from './answers.js';
export { nameAsset } from './asset-name.js';
export { END_OF_TIME_MS } from './time-parameter.js';
