/** The name of the tool that executes a plan of the other tools. */
export const EXECUTE_PLAN = 'executePlan';

/** The name of the tool that plans a write operation: `swap` -> `planSwap`. */
export function namePlanTool(operationName: string): string {
  return `plan${operationName.charAt(0).toUpperCase()}${operationName.slice(1)}`;
}
