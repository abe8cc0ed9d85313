import { readFileSync } from "node:fs";
import { defineConfig } from "@hey-api/openapi-ts";

const document = JSON.parse(readFileSync(new URL("../openapi/2026-10-01.json", import.meta.url), "utf8"));

// Both security schemes are a bearer token. The file of an upload is sent by hand, see src/upload.ts.
document.security = [{ accessToken: [] }];
for (const path of Object.keys(document.paths))
  if (path.startsWith("/_/media/")) Reflect.deleteProperty(document.paths, path);

// The client sets the version of the API; it is no parameter of each method.
for (const operations of Object.values<Record<string, { parameters?: { name: string }[] }>>(document.paths))
  for (const operation of Object.values(operations))
    operation.parameters = operation.parameters?.filter(({ name }) => name !== "Public-Api-Version");

export default defineConfig({
  input: document,
  output: {
    path: "src/generated",
    importFileExtension: ".ts",
    header: ["// Generated from the OpenAPI document by npm run generate. Do not edit."],
  },
  plugins: [
    "@hey-api/typescript",
    { name: "@hey-api/client-fetch", throwOnError: true },
    {
      name: "@hey-api/sdk",
      paramsStructure: "flat",
      responseStyle: "data",
      operations: { strategy: "single", containerName: "ParleyApi", methods: "instance" },
    },
  ],
});
