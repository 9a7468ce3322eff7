import { readParameters } from '../read-query.js';
import { refuseRequest } from '../request-invalid.js';

/**
 * Whether the request is a dry run: `?dryRun=true`.
 * @throws ProblemError for any other query, so that a misspelt dry run is not executed
 */
export function parseDryRun(query: unknown): boolean {
  const { values, problems } = readParameters(query, ['dryRun']);
  const dryRun = values.get('dryRun') ?? 'false';
  if (dryRun !== 'true' && dryRun !== 'false') problems.push('dryRun must be true or false.');
  if (problems.length > 0) throw refuseRequest(problems);
  return dryRun === 'true';
}
