/** Prints rows as columns, as wide as their widest cell; the last column is not padded. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0),
    );
    process.stdout.write(`  ${cells.join("  ").trimEnd()}\n`);
  }
}
