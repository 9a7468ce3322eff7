import {
  locatePayment,
  MAX_RELEASES,
  type PaymentDetails,
  type PaymentId,
  type PaymentListing,
  type RecordedRefusal,
} from '@tollgate/ledger';

import { formatTable, formatTime } from '../shared/format-table.js';

export function formatPayments(payments: readonly PaymentListing[]): string {
  return formatTable(
    ['STATE', 'SINCE', 'RELEASES', 'RETRY KEY', 'PAYMENT'],
    payments.map((one) => [
      stateOf(one),
      formatTime(one.atMs),
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
          ['since', formatTime(one.atMs)],
          ...(one.untilMs === null ? [] : [['lease until', formatTime(one.untilMs)]]),
          ['holders so far', String(one.generation)],
          ['counted releases', `${one.releases} of ${MAX_RELEASES}`],
          ['produced again', `${one.reproductions} times`],
          ...(one.meteredBaseUnits === null ? [] : [['came to', `${one.meteredBaseUnits} base units`]]),
          ['stored answer', one.answerBytes === null ? 'none' : `${one.answerBytes} bytes`],
          ['retry key', yesNo(one.hasRetryKey)],
          ['forgotten', one.forgottenInMs === null ? 'never' : formatTime(Date.now() + one.forgottenInMs)],
        ],
      ),
    )
    .join('\n\n');
}

export function formatRefusals(refusals: readonly RecordedRefusal[]): string {
  return formatTable(
    ['RECORDED', 'FAILURE', 'BASE UNITS', 'PAYER', 'PAYMENT', ''],
    refusals.map((one) => [
      formatTime(one.recordedAtMs),
      one.failure,
      one.amountBaseUnits ?? '-',
      one.payer ?? '-',
      one.payment,
      [one.redeemed ? 'redeemed since: no refund' : '', one.detail ?? ''].filter(Boolean).join('; '),
    ]),
  );
}

/** An expired lease is shown, because its holder crashed or is late. */
function stateOf({ state, untilMs }: PaymentListing): string {
  return state === 'leased' && untilMs !== null && untilMs < Date.now() ? 'leased (ran out)' : state;
}

function nameOf(id: PaymentId): string {
  const { entry, slot } = locatePayment(id);
  return id.kind === 'authorization' || id.kind === 'permit2' ? entry : `${entry}:${slot}`;
}

const yesNo = (yes: boolean): string => (yes ? 'yes' : 'no');
