"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");

const POLL_MS = 100;
/** A lock folder without an owner: its creator was killed between two system calls. */
const NAMELESS_MS = 5000;
/** The breaker's lock is held for two system calls; an older one is of a killed process. */
const BREAKER_MS = 10_000;

/**
 * Runs `action` while no other process of this machine does. The lock is a folder, since making one is atomic,
 * with the numbers of its owner and of the npm that the owner runs; it is stale when none of them lives, because
 * an npm whose Parley was killed keeps writing.
 *
 * @param {string} lock the folder to create
 * @param {(line: string) => void} say
 * @param {(recordChild: (pid: number) => void) => Promise<void>} action
 */
async function withLock(lock, say, action) {
  let told = false;
  while (!make(lock)) {
    if (breakIfStale(lock)) continue;
    if (!told) say("waiting for another process that is installing the dependencies");
    told = true;
    await sleep(POLL_MS);
  }
  try {
    await action((pid) => record(lock, pid));
  } finally {
    fs.rmSync(lock, { recursive: true, force: true });
  }
}

function make(lock) {
  try {
    fs.mkdirSync(lock);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  record(lock, process.pid);
  return true;
}

/** One empty file per process, named by id and start time, so that a reused process id does not count. */
function record(lock, pid) {
  fs.writeFileSync(path.join(lock, `${pid}-${birthOf(pid)}`), "");
}

/**
 * Removes a lock whose owners have all exited. Breaking has its own lock, under which staleness is checked again, so that
 * of two processes the second does not break the first one's new lock.
 */
function breakIfStale(lock) {
  if (!isStale(lock)) return false;
  const breaker = `${lock}.break`;
  try {
    fs.mkdirSync(breaker);
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    if (ageOf(breaker) > BREAKER_MS) fs.rmSync(breaker, { recursive: true, force: true });
    return false;
  }
  try {
    if (!isStale(lock)) return false;
    fs.rmSync(lock, { recursive: true, force: true });
    return true;
  } finally {
    fs.rmSync(breaker, { recursive: true, force: true });
  }
}

function isStale(lock) {
  let owners;
  try {
    owners = fs.readdirSync(lock);
  } catch {
    return false; // Just given back.
  }
  if (owners.length === 0) return ageOf(lock) > NAMELESS_MS;
  return !owners.some((owner) => {
    const [pid, birth] = owner.split("-");
    return isAlive(Number(pid)) && birthOf(Number(pid)) === birth;
  });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** When the process started, in ticks since boot; "zombie" after it exited, "" without /proc. */
function birthOf(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "zombie" : fields[19];
  } catch {
    return "";
  }
}

function ageOf(file) {
  try {
    return Date.now() - fs.statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

module.exports = { withLock };
