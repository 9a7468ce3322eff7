import { getMetadataStorage, ValidateBy, ValidateIf } from 'class-validator';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The rule of one kind of field: its check, the text of its error, and its description in documents. */
export interface FieldRule {
  readonly name: string;
  accepts(value: unknown): boolean;
  /** Completes `<field> must be …`. */
  readonly expectation: string;
  readonly schema: JsonSchema;
  /** The field identifies a token; the worker resolves it on the wallet's chain. */
  readonly isToken?: boolean;
  /** For an amount: the field that specifies its token; if that is null or omitted, it is the native token. */
  readonly tokenField?: string | null;
  /** Normalises the spellings of one value; leaves unknown values to `accepts`. */
  read?(value: unknown): unknown;
}

/** A field of an input class, as its decorator declares it. */
export interface InputField {
  readonly name: string;
  readonly rule: FieldRule;
  /** For readers of the API document. */
  readonly description: string;
  readonly optional: boolean;
}

export type InputClass<Input extends object = object> = new () => Input;

/** Marks a property that class-validator checks with the rule. */
export function Field(rule: FieldRule, description: string): PropertyDecorator {
  return (prototype, name) => mark(prototype, { name: String(name), rule, description, optional: false });
}

/** Like `Field`, for an optional property. `null` counts as an invalid value. */
export function OptionalField(rule: FieldRule, description: string): PropertyDecorator {
  return (prototype, name) => {
    ValidateIf((_, value) => value !== undefined)(prototype, name);
    mark(prototype, { name: String(name), rule, description, optional: true });
  };
}

/** The fields of an input class, in the order of declaration. */
export function listFields(inputClass: InputClass): InputField[] {
  return getMetadataStorage()
    .getTargetValidationMetadatas(inputClass, '', false, false)
    .flatMap(({ constraints }) => (constraints as readonly unknown[] | undefined) ?? [])
    .filter((constraint): constraint is MarkedField => constraint instanceof MarkedField)
    .map(({ field }) => field);
}

/** Distinguishes our constraints from others in class-validator's storage, where the fields are kept. */
class MarkedField {
  constructor(readonly field: InputField) {}
}

function mark(prototype: object, field: InputField): void {
  const { name, rule, optional } = field;
  const message = `must be ${rule.expectation}${optional ? '; it may be omitted' : ''}`;
  ValidateBy(
    {
      name: rule.name,
      constraints: [new MarkedField(field)],
      validator: { validate: (value) => rule.accepts(value), defaultMessage: () => message },
    },
    {},
  )(prototype, name);
}
