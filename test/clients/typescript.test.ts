import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { packageFolder, readExamples, startClientSetup } from "./client-setup.ts";

const sdk = packageFolder("sdk");
const root = fileURLToPath(new URL("../../", import.meta.url));
const { folder, runProgram, beginUploads } = await startClientSetup();
const examples = readExamples("sdk", "ts");

function compile(...args: readonly string[]): void {
  try {
    execFileSync(join(root, "node_modules/.bin/tsc"), args, { cwd: folder, encoding: "utf8" });
  } catch (error) {
    assert.fail((error as { stdout: string }).stdout);
  }
}

before(() => {
  // As the README says, but with the TypeScript that is here.
  compile("-p", sdk, "--outDir", join(sdk, "dist"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const npm = (cwd: string, ...args: readonly string[]): unknown =>
    execFileSync("npm", args, { cwd, stdio: "pipe" });
  npm(sdk, "pack", "--ignore-scripts", "--pack-destination", folder);
  npm(folder, "install", "--offline", "--no-audit", "--no-fund", "./parley-sdk-1.0.0.tgz");
  for (const program of ["journey.ts", "uploads.ts"])
    copyFileSync(join(sdk, "test", program), join(folder, "programs", program));
  for (const [index, example] of examples.entries())
    writeFileSync(join(folder, "programs", `example-${index}.ts`), example);
});

test("the package, its examples and the test program have no type errors in a strict project", () => {
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "es2022",
        module: "nodenext",
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        typeRoots: [join(root, "node_modules/@types")],
        types: ["node"],
        skipLibCheck: true,
        noEmit: true,
      },
      include: ["programs"],
    }),
  );
  compile("-p", ".");
});

test("every operation works, and pages, uploads, downloads, errors and signatures are handled", async () => {
  const printed = await runProgram(process.execPath, ["programs/journey.ts"]);
  assert.match(printed, /every operation called/);
});

test("an upload resumes after its URL expired, with the same file only, and ends if the server stores nothing", async () => {
  const printed = await runProgram(process.execPath, ["programs/uploads.ts", ...(await beginUploads())]);
  assert.match(printed, /uploads checked/);
});

test("the examples of the README run", async () => {
  assert.equal(examples.length, 6);
  const printed: string[] = [];
  for (const index of examples.keys())
    printed.push(await runProgram(process.execPath, [`programs/example-${index}.ts`]));
  const [list, upload, audio, , , errors] = printed;
  assert.match(list ?? "", /Good morning|: /);
  assert.match(upload ?? "", /100 %\n[0-9a-f-]{36}\n$/);
  assert.match(audio ?? "", /^audio [0-9a-f-]{36}\n$/);
  assert.ok(existsSync(join(folder, "download.mp4")));
  assert.match(errors ?? "", /recording/i);
});
