/** The methods of signed payments as one layer knows them, by the kind of their payments. */
export class MethodTable<Method extends { readonly kind: string }> {
  readonly #methods: Method[];

  /** @param methods one line a method; the first is the usual one */
  constructor(methods: readonly Method[]) {
    this.#methods = [...methods];
  }

  /** Adds a method from outside. Each layer has to know it, and the protocol first. Returns a function that removes it. */
  register(method: Method): () => void {
    this.#methods.push(method);
    return () => void this.#methods.splice(this.#methods.indexOf(method), 1);
  }

  /** The method of a payment, of its terms or of its id. */
  of({ kind }: { readonly kind: string }): Method {
    const method = this.#methods.find((one) => one.kind === kind);
    if (method === undefined) throw new TypeError(`no method is registered for signed payments of kind ${kind}`);
    return method;
  }

  /** In the order in which they were added. */
  all(): readonly Method[] {
    return this.#methods;
  }
}
