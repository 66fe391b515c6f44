export async function main(argv: readonly string[]): Promise<number> {
  console.log(`holdfast ${argv.join(" ")}`);
  return 0;
}
