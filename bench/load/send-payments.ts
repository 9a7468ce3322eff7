import { watchProcessors, type Roles } from '../process-usage.js';
import type { Sample } from '../run-rounds.js';
import { encodeRequest, sendEach } from './send-each.js';

export interface PaidTarget {
  name: string;
  /** The paid resource, at each of its processes. */
  urls: string[];
  roles: Roles;
  /** The request header of a payment. */
  header: string;
}

/** Sends one request with each payment; takes the time of each, and the cores of the processes. */
export async function sendPayments(target: PaidTarget, payments: string[], inFlight: number): Promise<Sample> {
  const { name, urls, roles, header } = target;
  const requests = payments.map((payment) => encodeRequest(urls[0] ?? '', { [header]: payment }));
  const readCores = watchProcessors(roles);
  const { firstFailure, ...sample } = await sendEach({ urls, requests, inFlight, expectedStatus: 200 });
  if (sample.failed === requests.length) throw new Error(`${name} answered no request with 200:\n${firstFailure}`);
  return { ...sample, detail: readCores() };
}
