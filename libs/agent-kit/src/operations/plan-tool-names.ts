/** The tool that carries out a plan of the others. */
export const EXECUTE_PLAN = 'executePlan';

/** The tool that plans a writing operation: `swap` -> `planSwap`. */
export function namePlanTool(operationName: string): string {
  return `plan${operationName.charAt(0).toUpperCase()}${operationName.slice(1)}`;
}
