/** The part of `quickjs-emscripten` that is used, by shape. */
export interface QuickJsModule {
  newQuickJSWASMModule(): Promise<{ newRuntime(): QuickJsRuntime }>;
}

interface QuickJsRuntime {
  setMemoryLimit(bytes: number): void;
  setMaxStackSize(bytes: number): void;
  setInterruptHandler(handler: () => boolean): void;
  newContext(): QuickJsContext;
}

export interface QuickJsHandle {
  dispose(): void;
}

export interface QuickJsContext {
  readonly undefined: QuickJsHandle;
  newFunction(name: string, work: (...args: QuickJsHandle[]) => QuickJsHandle): QuickJsHandle;
  newString(text: string): QuickJsHandle;
  getString(handle: QuickJsHandle): string;
  getProp(handle: QuickJsHandle, name: string): QuickJsHandle;
  callFunction(work: QuickJsHandle, self: QuickJsHandle, ...args: QuickJsHandle[]): QuickJsOutcome;
  evalCode(code: string, file: string): QuickJsOutcome;
  dump(handle: QuickJsHandle): unknown;
}

type QuickJsOutcome = { readonly error?: undefined; readonly value: QuickJsHandle } | { readonly error: QuickJsHandle };

/** The package is an optional peer, so it is loaded with the first program. */
export async function loadQuickJs(): Promise<QuickJsModule> {
  return (await import("quickjs-emscripten")) as unknown as QuickJsModule;
}
