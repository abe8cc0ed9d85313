import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import {
  type IDataObject,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeConnectionTypes,
} from "n8n-workflow";
import { hookTypes } from "../operations";
import { authentication, credentialsOfNode } from "../Parley/Parley.node";
import { callApi, readJson } from "../request";

/** How far a request's time may differ from this machine's clock. */
const toleranceSec = 300;

interface StaticData extends IDataObject {
  hookId?: string;
  secret?: string;
}

/** Starts a workflow when something happens in Parley. Requests with a wrong signature are refused. */
export class ParleyTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Parley Trigger",
    name: "parleyTrigger",
    icon: "file:parley.svg",
    group: ["trigger"],
    version: 1,
    subtitle: '={{$parameter["event"]}}',
    description: "Starts the workflow when an event occurs in Parley",
    defaults: { name: "Parley Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: credentialsOfNode(),
    webhooks: [{ name: "default", httpMethod: "POST", responseMode: "onReceived", path: "webhook" }],
    properties: [
      authentication(),
      {
        displayName: "Event",
        name: "event",
        type: "options",
        options: hookTypes,
        default: "recording_added",
        required: true,
      },
      {
        displayName: "Include",
        name: "include",
        type: "json",
        default: "{}",
        description: 'Extra data of the event, such as {"participants": true, "ai_summary": true}',
      },
    ],
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { hookId, secret } = this.getWorkflowStaticData("node") as StaticData;
        if (hookId === undefined || secret === undefined) return false;
        const { hooks } = (await callApi(this, "/hooks", {
          method: "POST",
          body: { filter: { state: "enabled" } },
        })) as { hooks: { id: string; hook_url: string; hook_type: string }[] };
        return hooks.some(
          ({ id, hook_url, hook_type }) =>
            id === hookId &&
            hook_url === this.getNodeWebhookUrl("default") &&
            hook_type === this.getNodeParameter("event", 0),
        );
      },

      async create(this: IHookFunctions): Promise<boolean> {
        // Parley has disabled it, or it is for another URL or event.
        await deleteHook(this);
        const hook = (await callApi(this, "/hooks/create", {
          method: "POST",
          body: {
            hook_url: this.getNodeWebhookUrl("default"),
            hook_type: this.getNodeParameter("event", 0),
            include: readJson(this.getNodeParameter("include", 0)),
          },
        })) as { id: string; secret: string };
        const data = this.getWorkflowStaticData("node") as StaticData;
        data.hookId = hook.id;
        data.secret = hook.secret;
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        await deleteHook(this);
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const request: IncomingMessage = this.getRequestObject();
    if (request.rawBody === undefined) await request.readRawBody?.();
    const body = request.rawBody ?? Buffer.alloc(0);
    // The test request when a webhook is created. It is not signed, and n8n may still have the secret of the previous one.
    if (body.toString() === "{}") return refuse(this, 200, "ready");
    const { secret } = this.getWorkflowStaticData("node") as StaticData;
    if (secret === undefined || !isSigned(this.getHeaderData() as Record<string, string>, body, secret))
      return refuse(this, 401, "the signature is wrong or too old");
    return { workflowData: [this.helpers.returnJsonArray(JSON.parse(body.toString()) as IDataObject)] };
  }
}

/** Deletes the node's webhook in Parley, if there is one. */
async function deleteHook(context: IHookFunctions): Promise<void> {
  const data = context.getWorkflowStaticData("node") as StaticData;
  if (data.hookId === undefined) return;
  try {
    await callApi(context, `/hooks/${data.hookId}`, { method: "DELETE" });
  } catch (error) {
    // It was deleted in Parley.
    if ((error as { httpCode?: string }).httpCode !== "404") throw error;
  }
  delete data.hookId;
  delete data.secret;
}

/** Responds without starting the workflow. */
function refuse(context: IWebhookFunctions, status: number, text: string): IWebhookResponseData {
  context.getResponseObject().status(status).send(text).end();
  return { noWebhookResponse: true };
}

/** Whether Parley signed a request (Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`). */
function isSigned(headers: Record<string, string | undefined>, body: Buffer, secret: string): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (!id || !timestamp || !signatures || !secret.startsWith("whsec_")) return false;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSec)) return false;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  if (key.length === 0) return false;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  // While a secret is rotated there are two signatures.
  return signatures.split(" ").some((signature) => {
    const [scheme, value = ""] = signature.split(",", 2);
    const given = Buffer.from(value, "base64");
    return scheme === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
