import type { ICredentialType, Icon, INodeProperties } from "n8n-workflow";

/** An OAuth app of the workspace, with PKCE. */
export class ParleyOAuth2Api implements ICredentialType {
  name = "parleyOAuth2Api";
  extends = ["oAuth2Api"];
  displayName = "Parley OAuth2 API";
  icon: Icon = "file:parley.svg";
  properties: INodeProperties[] = [
    { displayName: "Grant Type", name: "grantType", type: "hidden", default: "pkce" },
    {
      displayName: "Server URL",
      name: "baseUrl",
      type: "string",
      default: "",
      placeholder: "https://parley.example.com",
      required: true,
    },
    {
      displayName: "Authorization URL",
      name: "authUrl",
      type: "hidden",
      default: '={{$self["baseUrl"].replace(/\\/+$/, "")}}/_/public-api/oauth2/authorize',
      required: true,
    },
    {
      displayName: "Access Token URL",
      name: "accessTokenUrl",
      type: "hidden",
      default: '={{$self["baseUrl"].replace(/\\/+$/, "")}}/_/public-api/oauth2/token',
      required: true,
    },
    { displayName: "Scope", name: "scope", type: "hidden", default: "" },
    { displayName: "Auth URI Query Parameters", name: "authQueryParameters", type: "hidden", default: "" },
    { displayName: "Authentication", name: "authentication", type: "hidden", default: "body" },
  ];
}
