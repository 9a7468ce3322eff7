// Compiled, each part of this file has another line: helpers of decorators stand above it, and its types are gone.
export interface Order {
  id: string;
  amount: bigint;
}

type Refusal = { reason: 'too little'; missing: bigint } | { reason: 'too late'; seconds: number };

function sealed(_target: object, _name: string): void {}

export class Till {
  @sealed private readonly refusal: Refusal = { reason: 'too little', missing: 1n };

  constructor(private readonly least: bigint) {}

  take(order: Order): bigint {
    if (order.amount < this.least) {
      throw new Error(`no sale of ${order.id}: ${this.refusal.reason}`);
    }
    return order.amount;
  }

  async takeLater(order: Order): Promise<bigint> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.take(order);
  }
}
