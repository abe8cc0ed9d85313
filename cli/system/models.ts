import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { Presets, SingleBar } from "cli-progress";
import { Command } from "commander";
import { readConfig } from "../../server/platform/config/config.ts";
import { catalogue, findInCatalogue, isLanguage, sizeOf } from "../../server/processing/models/catalogue.ts";
import { installModel, nameOfPath, toMegabytes } from "../../server/processing/models/install.ts";
import { listInstalled, ModelError, removeModel, verifyModel } from "../../server/processing/models/store.ts";
import { readWholeConfig } from "../support/with-store.ts";

interface InstallOptions {
  from?: string;
  mirror?: string;
}

export function modelsCommand(command: Command): Command {
  const list = new Command("list")
    .description("list the models: installed ones and those that can be installed")
    .option("--json", "print a JSON array")
    .action(listModels);
  const install = new Command("install")
    .description("install a model on this machine")
    .argument("[name]", "name of the model; a folder or file outside the catalogue gets this name")
    .option(
      "--from <path>",
      "take the files from a folder, or a language model from a GGUF file, instead of downloading",
    )
    .option("--mirror <url>", "download from URL/<name>/<file>; default: PARLEY_MODEL_MIRROR")
    .action(installOne);
  const remove = new Command("remove")
    .description("remove a model from this machine")
    .argument("<name>", "name of the model")
    .action(async (name: string) => {
      await removeModel(readConfig(process.env, process.cwd()).dataDir, name);
      console.error(`removed ${name}`);
    });
  const verify = new Command("verify")
    .description("read every file of the installed models and report missing and changed ones")
    .action(verifyModels);
  return command.addCommand(list).addCommand(install).addCommand(remove).addCommand(verify);
}

async function listModels(options: { json?: boolean }): Promise<void> {
  const installed = await listInstalled(readConfig(process.env, process.cwd()).dataDir);
  const names = new Set(installed.map(({ name }) => name));
  const rows = [
    ...catalogue.map((model) => ({
      name: model.name,
      kind: isLanguage(model) ? "language" : "speech",
      state: names.has(model.name) ? "installed" : "available",
      installed: names.has(model.name),
      size: sizeOf(model),
      megabytes: toMegabytes(sizeOf(model)),
      license: model.license,
      description: model.description,
    })),
    ...installed
      .filter(({ custom }) => custom)
      .map((model) => ({
        name: model.name,
        kind: isLanguage(model) ? "language" : "speech",
        state: "custom",
        installed: true,
        size: sizeOf(model),
        megabytes: toMegabytes(sizeOf(model)),
        license: "unknown",
        description: "Installed from a folder; not from Parley's catalogue.",
      })),
  ];
  // In both spellings, for programs that know either.
  const listed = rows.map((row) => ({ ...row, licence: row.license }));
  if (options.json) process.stdout.write(`${JSON.stringify(listed)}\n`);
  else
    for (const { name, kind, state, megabytes, license, description } of rows)
      process.stdout.write(
        `${name.padEnd(16)} ${kind.padEnd(9)} ${state.padEnd(10)} ${String(megabytes).padStart(4)} MB  ${license.padEnd(18)} ${description}\n`,
      );
}

async function installOne(givenName: string | undefined, options: InstallOptions): Promise<void> {
  if (options.from !== undefined && options.mirror !== undefined)
    throw new ModelError("use either --from or --mirror");
  const config = await readWholeConfig(readConfig(process.env, process.cwd()));
  const from = options.from === undefined ? null : resolve(options.from);
  const isFile = from !== null && (await stat(from).catch(() => null))?.isFile() === true;
  const name = givenName ?? (from === null ? catalogue[0]?.name : nameOfPath(from)) ?? "";
  const known = findInCatalogue(name);
  if (known !== undefined)
    console.error(`${known.attribution}. License: ${known.license}. From ${known.source}`);
  const source =
    from === null
      ? ({ type: "download", mirror: options.mirror ?? config.modelMirror } as const)
      : ({ type: isFile ? "file" : "folder", path: from } as const);
  const bar = process.stderr.isTTY
    ? new SingleBar(
        { format: "{bar} {percentage} %  {value}/{total} MB", stream: process.stderr },
        Presets.shades_classic,
      )
    : null;
  bar?.start(0, 0);
  try {
    const model = await installModel(config.dataDir, name, source, {
      onProgress: (done, total) => {
        bar?.setTotal(toMegabytes(total));
        bar?.update(toMegabytes(done));
      },
    });
    bar?.stop();
    console.error(
      model.custom
        ? `installed the custom model ${name}; its hashes are recorded, and parley models verify checks them`
        : `installed ${name}`,
    );
  } finally {
    bar?.stop();
  }
}

async function verifyModels(): Promise<void> {
  const installed = await listInstalled(readConfig(process.env, process.cwd()).dataDir);
  for (const model of installed) {
    const damage = await verifyModel(model);
    process.stdout.write(
      `${model.name}${model.custom ? " (custom)" : ""}: ${damage.length === 0 ? "intact" : damage.join("; ")}\n`,
    );
    if (damage.length > 0) process.exitCode = 1;
  }
  if (installed.length === 0) console.error("no model is installed");
}
