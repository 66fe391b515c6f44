import { createRequire } from "node:module";
import { HoldfastError } from "../../base/errors.ts";
import type { JsParser, Node } from "./syntax.ts";

/** The part of `quickjs-emscripten` that is used, by shape. */
interface QuickJsModule {
  readonly RELEASE_SYNC: object;
  newVariant(variant: object, options: { readonly wasmMemory: object }): object;
  newQuickJSWASMModuleFromVariant(variant: object): Promise<{ newRuntime(): QuickJsRuntime }>;
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

/** The part of `acorn` that is used. */
interface AcornModule {
  parse(program: string, options: object): unknown;
  tokenizer(
    program: string,
    options: object,
  ): Iterable<{ readonly type: { readonly label: string }; readonly value: unknown }>;
}

const MARKS: Readonly<Record<string, string>> = { ".": ".", "?.": "." };
const ACORN = { ecmaVersion: "latest", sourceType: "script", allowReturnOutsideFunction: true } as const;

/** What reads programs, when it is there: an optional peer, too. */
export async function loadParser(): Promise<JsParser | undefined> {
  const acorn = await import("acorn").then(
    (loaded) => loaded as unknown as AcornModule,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return undefined;
      throw error;
    },
  );
  if (acorn === undefined) return undefined;
  return {
    parse(program) {
      try {
        return acorn.parse(program, ACORN) as Node;
      } catch (error) {
        if (error instanceof SyntaxError) return undefined;
        throw error;
      }
    },
    words(program) {
      const words: string[] = [];
      try {
        for (const { type, value } of acorn.tokenizer(program, ACORN))
          words.push(type.label === "name" ? String(value) : (MARKS[type.label] ?? ""));
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error; // as far as they could be told
      }
      return words;
    },
  };
}

const ENGINE = "quickjs-emscripten";

/** Looks for the engine without loading it: found missing by the first program, only the model would hear of it. */
export function requireEngine(resolve: (name: string) => unknown = createRequire(import.meta.url).resolve): void {
  try {
    resolve(ENGINE);
  } catch (cause) {
    throw new HoldfastError("SDK_MISSING", { package: ENGINE }, { cause });
  }
}

/** Every Node has it; its types are told for browsers only. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: { readonly Memory: new (pages: { initial: number; maximum: number }) => object };
};
const PAGE = 64 * 1024;
const FIRST_PAGES = 256;

/**
 * An engine in a memory that cannot grow beyond its limit. The engine's own limit counts allocations and not what they take,
 * so many large ones would pass it. The package is an optional peer, and is loaded with the first program.
 */
export async function newEngine(memoryBytes: number): Promise<QuickJsRuntime> {
  const quickjs = (await import("quickjs-emscripten")) as unknown as QuickJsModule;
  const maximum = Math.max(FIRST_PAGES, Math.floor(memoryBytes / PAGE));
  const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum });
  const variant = quickjs.newVariant(quickjs.RELEASE_SYNC, { wasmMemory });
  const runtime = (await quickjs.newQuickJSWASMModuleFromVariant(variant)).newRuntime();
  runtime.setMemoryLimit(memoryBytes);
  return runtime;
}
