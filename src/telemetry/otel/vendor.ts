/** The part of `@opentelemetry/api` that Holdfast uses, by its shape: the package fits as it is imported. */
export interface OtelApi {
  readonly trace: {
    getTracer(name: string, version?: string): OtelTracer;
    setSpan(context: OtelContext, span: OtelSpan): OtelContext;
  };
  readonly metrics: { getMeter(name: string, version?: string): OtelMeter };
  readonly context: { active(): OtelContext };
}

/**
 * The context that a new span belongs to. Holdfast passes it through and calls none of its methods; they are listed so
 * that the package's own type fits.
 */
export interface OtelContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OtelContext;
  deleteValue(key: symbol): OtelContext;
}

export type OtelAttributes = Record<string, string | number | boolean | string[]>;

export interface OtelTracer {
  startSpan(
    name: string,
    options: { readonly kind: number; readonly startTime: Date; readonly attributes: OtelAttributes },
    context: OtelContext,
  ): OtelSpan;
}

export interface OtelSpan {
  setAttributes(attributes: OtelAttributes): unknown;
  addEvent(name: string, attributes: OtelAttributes, time: Date): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(time: Date): void;
}

export interface OtelMeter {
  createCounter(name: string, options: { readonly description: string; readonly unit: string }): OtelCounter;
  createHistogram(name: string, options: { readonly description: string; readonly unit: string }): OtelHistogram;
}

export interface OtelCounter {
  add(value: number, attributes: OtelAttributes): void;
}

export interface OtelHistogram {
  record(value: number, attributes: OtelAttributes): void;
}

/** Numbers of its enumerations: `SpanKind` and `SpanStatusCode`. */
export const SPAN_KIND = { internal: 0, client: 2 } as const;
export const STATUS_ERROR = 2;
