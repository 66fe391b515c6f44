/** What is used of a package that brings no types. */
declare module "@bcoe/v8-coverage" {
  interface ScriptCov {
    readonly url: string;
    readonly functions: readonly object[];
  }
  interface ProcessCov {
    readonly result: readonly ScriptCov[];
  }
  function mergeProcessCovs(processes: readonly ProcessCov[]): ProcessCov;
}
