/** The methods of signed payments as one layer knows them, by the kind of their payments. */
export class MethodTable<Method extends { readonly kind: string }> {
  readonly #byKind: Map<string, Method>;

  constructor(methods: readonly Method[]) {
    this.#byKind = new Map(methods.map((method) => [method.kind, method]));
  }

  /** Adds a method from outside. Each layer has to know it, and the protocol first. Returns a function that removes it. */
  register(method: Method): () => void {
    this.#byKind.set(method.kind, method);
    return () => void this.#byKind.delete(method.kind);
  }

  /** The method of a payment, or of its terms. */
  of({ kind }: { readonly kind: string }): Method {
    const method = this.#byKind.get(kind);
    if (method === undefined) throw new TypeError(`no method is registered for signed payments of kind ${kind}`);
    return method;
  }

  all(): Iterable<Method> {
    return this.#byKind.values();
  }
}
