import {
  type IDataObject,
  type IExecuteFunctions,
  type IHookFunctions,
  type IHttpRequestOptions,
  type JsonObject,
  NodeApiError,
} from "n8n-workflow";

/** The version of the API that these nodes speak. */
export const apiVersion = "2026-10-01";

/** Which of the two credentials a node uses. */
export function credentialType(context: IExecuteFunctions | IHookFunctions): string {
  return context.getNodeParameter("authentication", 0) === "oAuth2" ? "parleyOAuth2Api" : "parleyApi";
}

/**
 * Sends a request to the API with the node's credential.
 * @param path below `/_/public-api/v2`.
 * @throws NodeApiError with the server's own explanation.
 */
export async function callApi(
  context: IExecuteFunctions | IHookFunctions,
  path: string,
  options: Omit<IHttpRequestOptions, "url">,
): Promise<unknown> {
  const type = credentialType(context);
  const { baseUrl } = await context.getCredentials<{ baseUrl: string }>(type);
  try {
    return await context.helpers.httpRequestWithAuthentication.call(context, type, {
      json: true,
      ...options,
      url: `${baseUrl.replace(/\/+$/, "")}/_/public-api/v2${path}`,
      headers: { "Public-Api-Version": apiVersion, ...options.headers },
    });
  } catch (error) {
    throw explain(context, error);
  }
}

/** n8n's error with the server's explanation, which n8n keeps only in the error's context. */
function explain(context: IExecuteFunctions | IHookFunctions, error: unknown): NodeApiError {
  const explained =
    error instanceof NodeApiError ? error : new NodeApiError(context.getNode(), error as JsonObject);
  const { detail } = (explained.context.data ?? {}) as { detail?: unknown };
  if (typeof detail === "string") explained.message = detail;
  return explained;
}

/** A JSON field's value: n8n gives text where it was typed, and an object where it is an expression. */
export function readJson(value: unknown): IDataObject | undefined {
  const parsed = typeof value === "string" ? JSON.parse(value.trim() === "" ? "{}" : value) : value;
  return parsed && Object.keys(parsed as object).length > 0 ? (parsed as IDataObject) : undefined;
}
