import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  Icon,
  INodeProperties,
} from "n8n-workflow";

/** A personal or workspace access token. */
export class ParleyApi implements ICredentialType {
  name = "parleyApi";
  displayName = "Parley API";
  icon: Icon = "file:parley.svg";
  properties: INodeProperties[] = [
    {
      displayName: "Server URL",
      name: "baseUrl",
      type: "string",
      default: "",
      placeholder: "https://parley.example.com",
      required: true,
    },
    {
      displayName: "Access Token",
      name: "token",
      type: "string",
      typeOptions: { password: true },
      default: "",
      description: "Create one in Parley under Settings, Access tokens",
      required: true,
    },
  ];
  authenticate: IAuthenticateGeneric = {
    type: "generic",
    properties: { headers: { Authorization: "=Bearer {{$credentials.token}}" } },
  };
  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}',
      url: "/_/public-api/v2/token-info",
      headers: { "Public-Api-Version": "2026-10-01" },
    },
  };
}
