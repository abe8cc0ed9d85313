import type { Readable } from "node:stream";
import {
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeProperties,
  type INodeType,
  type INodeTypeDescription,
  NodeConnectionTypes,
  NodeOperationError,
} from "n8n-workflow";
import { type Field, type Operation, operations, resources } from "../operations";
import { callApi, readJson } from "../request";

/** Uploading a file takes two requests, so it is not in the table of operations. */
const uploadFile = "uploadFile";

/** Every operation of the API, made from one table. */
export class Parley implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Parley",
    name: "parley",
    icon: "file:parley.svg",
    group: ["transform"],
    version: 1,
    subtitle: '={{$parameter["operation"]}}',
    description: "Read, share, tag and upload meeting recordings",
    defaults: { name: "Parley" },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    usableAsTool: true,
    credentials: credentialsOfNode(),
    properties: [
      authentication(),
      {
        displayName: "Resource",
        name: "resource",
        type: "options",
        noDataExpression: true,
        options: resources,
        default: "recording",
      },
      ...resources.map(({ value }) => operationChoice(String(value))),
      ...operations.flatMap((operation) => operation.fields.map((field) => propertyOf(operation, field))),
      ...operations.filter(isPaged).flatMap(limitProperties),
      ...fileProperties(),
    ],
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const output: INodeExecutionData[] = [];
    for (let item = 0; item < this.getInputData().length; item++) {
      try {
        output.push(...(await runItem(this, item)));
      } catch (error) {
        if (!this.continueOnFail()) throw error;
        output.push({ json: { error: (error as Error).message }, pairedItem: { item } });
      }
    }
    return [output];
  }
}

/** The two kinds of credentials, chosen by `authentication`. */
export function credentialsOfNode(): INodeTypeDescription["credentials"] {
  return [
    { name: "parleyApi", required: true, displayOptions: { show: { authentication: ["token"] } } },
    { name: "parleyOAuth2Api", required: true, displayOptions: { show: { authentication: ["oAuth2"] } } },
  ];
}

export function authentication(): INodeProperties {
  return {
    displayName: "Authentication",
    name: "authentication",
    type: "options",
    options: [
      { name: "Access Token", value: "token" },
      { name: "OAuth2", value: "oAuth2" },
    ],
    default: "token",
  };
}

function operationChoice(resource: string): INodeProperties {
  const options = operations
    .filter((operation) => operation.resource === resource)
    .map(({ name, value, action }) => ({ name, value, action }));
  if (resource === "upload")
    options.push({ name: "Upload a File", value: uploadFile, action: "Upload a file" });
  options.sort((a, b) => a.name.localeCompare(b.name));
  return {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: { show: { resource: [resource] } },
    options,
    default: options[0]?.value ?? "",
  };
}

function propertyOf(operation: Operation, field: Field): INodeProperties {
  return {
    displayName: field.label,
    name: field.name,
    type: field.type,
    required: field.isRequired ?? false,
    default:
      field.type === "boolean" ? true : field.type === "json" ? "{}" : (field.options?.[0]?.value ?? ""),
    displayOptions: { show: { resource: [operation.resource], operation: [operation.value] } },
    ...(field.options === undefined ? {} : { options: field.options }),
    ...(field.hint === undefined ? {} : { description: field.hint }),
  };
}

function isPaged({ items }: Operation): boolean {
  return items === "recordings" || items === "uploads";
}

function limitProperties({ resource, value }: Operation): INodeProperties[] {
  const show = { resource: [resource], operation: [value] };
  return [
    {
      displayName: "Return All",
      name: "returnAll",
      type: "boolean",
      default: false,
      description: "Whether to return all results or only up to a given limit",
      displayOptions: { show },
    },
    {
      displayName: "Limit",
      name: "limit",
      type: "number",
      typeOptions: { minValue: 1 },
      default: 50,
      description: "Max number of results to return",
      displayOptions: { show: { ...show, returnAll: [false] } },
    },
  ];
}

function fileProperties(): INodeProperties[] {
  const show = { resource: ["upload"], operation: [uploadFile] };
  return [
    {
      displayName: "Input Binary Field",
      name: "binaryField",
      type: "string",
      default: "data",
      required: true,
      description: "The field with the file: video as .mp4, audio as .mp3",
      displayOptions: { show },
    },
    {
      displayName: "Attributes",
      name: "attributes",
      type: "json",
      default: "{}",
      description: "Title, start_datetime, team_id, recorder_ids, participants",
      displayOptions: { show },
    },
  ];
}

async function runItem(context: IExecuteFunctions, item: number): Promise<INodeExecutionData[]> {
  const value = context.getNodeParameter("operation", item) as string;
  const asItems = (results: IDataObject[]): INodeExecutionData[] =>
    results.map((json) => ({ json, pairedItem: { item } }));
  if (value === uploadFile) return asItems([await sendFile(context, item)]);
  const operation = operations.find((candidate) => candidate.value === value);
  if (operation === undefined)
    throw new NodeOperationError(context.getNode(), `unknown operation ${value}`, { itemIndex: item });
  const { path, body } = readFields(context, operation, item);
  if (operation.returns === "file") return [await download(context, path, item)];
  if (operation.items !== undefined) return asItems(await list(context, operation, path, body, item));
  const response = await callApi(context, path, {
    method: operation.method,
    ...(Object.keys(body).length > 0 ? { body } : {}),
    ...(operation.returns === "text" ? { json: false, encoding: "text" } : {}),
  });
  if (operation.returns === "text") return asItems([{ text: String(response) }]);
  return asItems(Array.isArray(response) ? (response as IDataObject[]) : [response as IDataObject]);
}

function readFields(
  context: IExecuteFunctions,
  operation: Operation,
  item: number,
): { path: string; body: IDataObject } {
  let { path } = operation;
  const body: IDataObject = {};
  for (const field of operation.fields) {
    const value = context.getNodeParameter(field.name, item) as string | boolean;
    if (field.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(String(value)));
    else if (field.type === "json") body[field.name] = readJson(value);
    else if (value !== "") body[field.name] = value;
  }
  return { path, body };
}

async function list(
  context: IExecuteFunctions,
  operation: Operation,
  path: string,
  body: IDataObject,
  item: number,
): Promise<IDataObject[]> {
  const all = !isPaged(operation) || (context.getNodeParameter("returnAll", item) as boolean);
  const limit = all ? Number.POSITIVE_INFINITY : (context.getNodeParameter("limit", item) as number);
  const results: IDataObject[] = [];
  let cursor: string | null | undefined;
  do {
    const page = (await callApi(context, path, {
      method: operation.method,
      body: cursor ? { ...body, cursor } : body,
    })) as { cursor?: string | null } & Record<string, IDataObject[]>;
    results.push(...(page[operation.items ?? ""] ?? []));
    ({ cursor } = page);
  } while (cursor && results.length < limit);
  return results.slice(0, limit);
}

async function download(context: IExecuteFunctions, path: string, item: number): Promise<INodeExecutionData> {
  const response = (await callApi(context, path, {
    method: "GET",
    json: false,
    encoding: "stream",
    returnFullResponse: true,
  })) as { body: Readable; headers: Record<string, string> };
  const name = /filename="([^"]+)"/.exec(response.headers["content-disposition"] ?? "")?.[1];
  const data = await context.helpers.prepareBinaryData(
    response.body,
    name ?? "recording",
    response.headers["content-type"],
  );
  return { json: {}, binary: { data }, pairedItem: { item } };
}

async function sendFile(context: IExecuteFunctions, item: number): Promise<IDataObject> {
  const field = context.getNodeParameter("binaryField", item) as string;
  const { mimeType } = context.helpers.assertBinaryData(item, field);
  const upload = (await callApi(context, "/uploads/create", {
    method: "POST",
    body: {
      media_type: mimeType.startsWith("audio/") ? "audio" : "video",
      attributes: readJson(context.getNodeParameter("attributes", item)),
    },
  })) as { id: string; media: { upload: { url: string; headers: Record<string, string> } } };
  const { url, headers } = upload.media.upload;
  const { body, size } = await openFile(context, item, field);
  // The URL itself permits sending this file: no credential is sent with it.
  await context.helpers.httpRequest({
    method: "PUT",
    url,
    headers: { ...headers, "content-length": String(size) },
    body,
    // To follow redirects, the whole body would be kept in memory.
    disableFollowRedirect: true,
  });
  return (await callApi(context, `/uploads/${upload.id}`, { method: "POST", body: {} })) as IDataObject;
}

/** The file of an item, as a stream unless n8n has it in memory anyway. */
async function openFile(
  { helpers }: IExecuteFunctions,
  item: number,
  field: string,
): Promise<{ body: Buffer | Readable; size: number }> {
  const { id } = helpers.assertBinaryData(item, field);
  if (id === undefined) {
    const body = await helpers.getBinaryDataBuffer(item, field);
    return { body, size: body.length };
  }
  const { fileSize } = await helpers.getBinaryMetadata(id);
  return { body: await helpers.getBinaryStream(id), size: fileSize };
}
