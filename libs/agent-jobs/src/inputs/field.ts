import { getMetadataStorage, ValidateBy, ValidateIf } from 'class-validator';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What one kind of field takes: its check, the sentence for who gets it wrong, and what documents say of it. */
export interface FieldRule {
  readonly name: string;
  accepts(value: unknown): boolean;
  /** Completes `<field> must be …`. */
  readonly expectation: string;
  readonly schema: JsonSchema;
  /** Names a token; the worker resolves it on the wallet's chain. */
  readonly isToken?: boolean;
  /** Of an amount: the field that names its token, which is the native one where that is null or left out. */
  readonly tokenField?: string | null;
  /** Brings the spellings of one value to one; what it does not know it leaves to `accepts`. */
  read?(value: unknown): unknown;
}

/** A field of an input class, as its decorator wrote it. */
export interface InputField {
  readonly name: string;
  readonly rule: FieldRule;
  /** For people who read the API's document. */
  readonly description: string;
  readonly optional: boolean;
}

export type InputClass<Input extends object = object> = new () => Input;

/** Marks a property that class-validator checks by the rule. */
export function Field(rule: FieldRule, description: string): PropertyDecorator {
  return (prototype, name) => mark(prototype, { name: String(name), rule, description, optional: false });
}

/** The same for a property that may be left out. `null` is a value, and a wrong one. */
export function OptionalField(rule: FieldRule, description: string): PropertyDecorator {
  return (prototype, name) => {
    ValidateIf((_, value) => value !== undefined)(prototype, name);
    mark(prototype, { name: String(name), rule, description, optional: true });
  };
}

/** The fields of an input class, in the order in which it names them. */
export function listFields(inputClass: InputClass): InputField[] {
  return getMetadataStorage()
    .getTargetValidationMetadatas(inputClass, '', false, false)
    .flatMap(({ constraints }) => (constraints as readonly unknown[] | undefined) ?? [])
    .filter((constraint): constraint is MarkedField => constraint instanceof MarkedField)
    .map(({ field }) => field);
}

/** Tells our constraints from others in class-validator's storage, which is where the fields are kept. */
class MarkedField {
  constructor(readonly field: InputField) {}
}

function mark(prototype: object, field: InputField): void {
  const { name, rule, optional } = field;
  const message = `must be ${rule.expectation}${optional ? '; it may be left out' : ''}`;
  ValidateBy(
    {
      name: rule.name,
      constraints: [new MarkedField(field)],
      validator: { validate: (value) => rule.accepts(value), defaultMessage: () => message },
    },
    {},
  )(prototype, name);
}
