export { ParleyApi } from "./credentials/ParleyApi.credentials";
export { ParleyOAuth2Api } from "./credentials/ParleyOAuth2Api.credentials";
export { Parley } from "./nodes/Parley/Parley.node";
export { ParleyTrigger } from "./nodes/ParleyTrigger/ParleyTrigger.node";
