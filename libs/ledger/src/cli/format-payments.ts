import { MAX_RELEASES } from '../claim-payment.js';
import { locatePayment, type PaymentId } from '../payment-id.js';
import type { PaymentDetails, PaymentListing } from '../read-payments.js';
import type { RecordedRefusal } from '../read-refusals.js';

/** Aligns columns; the last one may be as long as it likes. */
function formatTable(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [head, ...rows].map(line).join('\n');
}

export function formatPayments(payments: readonly PaymentListing[]): string {
  return formatTable(
    ['STATE', 'SINCE', 'RELEASES', 'RETRY KEY', 'PAYMENT'],
    payments.map((one) => [
      stateOf(one),
      timeOf(one.atMs),
      String(one.releases),
      yesNo(one.hasRetryKey),
      nameOf(one.id),
    ]),
  );
}

export function formatDetails(payments: readonly PaymentDetails[]): string {
  return payments
    .map((one) =>
      formatTable(
        ['PAYMENT', nameOf(one.id)],
        [
          ['state', stateOf(one)],
          ['since', timeOf(one.atMs)],
          ...(one.untilMs === null ? [] : [['lease until', timeOf(one.untilMs)]]),
          ['holders so far', String(one.generation)],
          ['counted releases', `${one.releases} of ${MAX_RELEASES}`],
          ['produced again', `${one.reproductions} times`],
          ...(one.meteredBaseUnits === null ? [] : [['came to', `${one.meteredBaseUnits} base units`]]),
          ['stored answer', one.answerBytes === null ? 'none' : `${one.answerBytes} bytes`],
          ['retry key', yesNo(one.hasRetryKey)],
          ['forgotten', one.forgottenInMs === null ? 'never' : timeOf(Date.now() + one.forgottenInMs)],
        ],
      ),
    )
    .join('\n\n');
}

export function formatRefusals(refusals: readonly RecordedRefusal[]): string {
  return formatTable(
    ['RECORDED', 'FAILURE', 'BASE UNITS', 'PAYER', 'PAYMENT', ''],
    refusals.map((one) => [
      timeOf(one.recordedAtMs),
      one.failure,
      one.amountBaseUnits ?? '-',
      one.payer ?? '-',
      one.payment,
      [one.redeemed ? 'redeemed since: no refund' : '', one.detail ?? ''].filter(Boolean).join('; '),
    ]),
  );
}

/** A lease that ran out is worth seeing: its holder crashed, or is late. */
function stateOf({ state, untilMs }: PaymentListing): string {
  return state === 'leased' && untilMs !== null && untilMs < Date.now() ? 'leased (ran out)' : state;
}

function nameOf(id: PaymentId): string {
  const { entry, slot } = locatePayment(id);
  return id.kind === 'authorization' || id.kind === 'permit2' ? entry : `${entry}:${slot}`;
}

const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
const yesNo = (yes: boolean): string => (yes ? 'yes' : 'no');
