/** A field of an input, own data only: an inherited or computed field could answer the handler differently. */
export function ownField(input: unknown, field: string): unknown {
  return Object.getOwnPropertyDescriptor(Object(input), field)?.value as unknown;
}
