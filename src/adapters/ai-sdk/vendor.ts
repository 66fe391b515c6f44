/**
 * A language model of the AI SDK, by its shape: those of majors 5 (`v2`), 6 (`v3`) and 7 (`v4`) fit, and so do wrapped
 * ones.
 */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  // Methods, not functions: a method of a class that takes narrower options still fits.
  doStream(options: never): PromiseLike<{ readonly stream: AsyncIterable<unknown> | ReadableStream<unknown> }>;
  doGenerate(options: never): PromiseLike<object>;
}

/** The versions of the contract that are known to be read and written right. */
export const KNOWN_VERSIONS: readonly string[] = ["v2", "v3", "v4"];
