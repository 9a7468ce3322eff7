/** The methods of signed payments as one layer knows them, by the kind of their payments. */
export class MethodTable<Method extends { readonly kind: string }> {
  readonly #methods: Method[];

  /** @param methods one line a method; the first is the usual one */
  constructor(methods: readonly Method[]) {
    this.#methods = [...methods];
  }

  /** Adds a method from outside. Each layer has to know it, and the protocol first. Returns a function that removes it. */
  register(method: Method): () => void {
    if (this.#methods.some(({ kind }) => kind === method.kind))
      throw new TypeError(`a method is registered for signed payments of kind ${method.kind} already`);
    this.#methods.push(method);
    return () => {
      const at = this.#methods.indexOf(method);
      if (at !== -1) this.#methods.splice(at, 1);
    };
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
