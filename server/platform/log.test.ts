import { equal, match } from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { test } from "node:test";

/** Logs lines for 100 ms, and then writes to standard output that it has got there. */
const program = `
  const { createLog } = await import(${JSON.stringify(new URL("./log.ts", import.meta.url).href)});
  const log = createLog("info");
  process.stdin.once("data", () => {
    for (let n = 0; n < 20; n += 1) log.info({ n }, "a line");
    setTimeout(() => { log.warn("an urgent line"); process.stdout.write("continued"); process.exit(0); }, 100);
  });`;

function start(stderr: "pipe" | number): ChildProcess {
  return spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", stderr],
    timeout: 20_000,
  });
}

async function finish(child: ChildProcess): Promise<string> {
  child.stdin?.end("go");
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code, signal] = await once(child, "close");
  equal(signal ?? code, 0);
  return output;
}

test("every line is written, in order, also the last ones before the process exits", async () => {
  const child = start("pipe");
  let lines = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    lines += text;
  });
  match(await finish(child), /continued/);
  const read = lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  equal(read.length, 21);
  equal(
    read.slice(0, 20).every(({ n }, index) => n === index),
    true,
  );
  equal(read.at(-1).msg, "an urgent line");
});

test("a process continues when nobody reads its log any more", async () => {
  const child = start("pipe");
  child.stderr?.destroy();
  match(await finish(child), /continued/);
});

test("a process continues when its log is on a full disk", {
  skip: process.platform === "linux" ? false : "needs /dev/full of Linux",
}, async () => {
  match(await finish(start(openSync("/dev/full", "w"))), /continued/);
});
