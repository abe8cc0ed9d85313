import { t } from "@lingui/core/macro";
import type { networkSentences } from "../../../contract/failures/network.ts";
import type { SentenceValues } from "../../../contract/sentences.ts";
import { sizeText } from "../values.ts";

/** Why a request to another server failed: as the server says it, without a capital, because it may follow a colon. */
export const networkTexts: {
  readonly [Code in keyof typeof networkSentences]: (values: SentenceValues<Code>) => string;
} = {
  net_refused: () => t`the connection was refused`,
  net_closed: () => t`the connection was closed before a response arrived`,
  net_timeout: () => t`the connection timed out`,
  net_unreachable: () => t`the host is unreachable`,
  net_no_host: () => t`the host name does not exist`,
  net_unresolved: () => t`the host name could not be resolved`,
  net_expired: () => t`the TLS certificate has expired`,
  net_not_valid_yet: () => t`the TLS certificate is not valid yet`,
  net_other_host: () => t`the TLS certificate is for another host name`,
  net_self_signed: () => t`the TLS certificate is self-signed`,
  net_unknown_authority: () => t`the TLS certificate comes from an unknown authority`,
  net_no_chain: () => t`the TLS certificate comes without its chain, or from an unknown authority`,
  net_headers: () => t`the response headers are too large`,
  net_no_tls: () => t`the TLS handshake failed; the port may not use TLS`,
  net_tls: () => t`the TLS handshake failed`,
  net_not_http: () => t`the response is not HTTP/1.1`,
  net_failed: ({ reason }) => t`the request failed: ${reason}`,
  net_no_address: ({ host }) => t`the host name ${host} has no IP address`,
  net_stopped: () => t`the sender was closed`,
  net_not_ready: () => t`the connection was closed before it was ready`,
  net_proxy_refused: ({ status }) =>
    t`the proxy of this installation refused the connection (status ${status})`,
  net_proxy: ({ reason }) => t`the proxy of this installation can't be used: ${reason}`,
  net_not_public: ({ address }) =>
    t`the IP address ${address} is not allowed: it is not public; the operator can allow it with PARLEY_HOOKS_ALLOW_ADDRESSES (Settings → Server settings → Allowed private IP addresses)`,
  net_not_public_hidden: () =>
    t`its IP address is not allowed: it is not public; the operator can allow it with PARLEY_HOOKS_ALLOW_ADDRESSES (Settings → Server settings → Allowed private IP addresses)`,
  net_at_host: ({ host, reason }) => `${host}: ${reason}`,
  net_bad_redirect: () => t`the server redirects to an invalid URL`,
  net_redirects: () => t`the server redirects too often`,
  net_url: ({ reason }) => t`the URL ${reason}`,
  net_host_not_allowed: ({ host }) => t`the host ${host} is not allowed`,
  net_response_long: ({ bytes }) => {
    const size = sizeText(Number(bytes));
    return t`the response is larger than ${size}`;
  },
  net_response_json: ({ values, keys }) =>
    t`the response has too many values (at most ${values}), an object with too many keys (at most ${keys}), or is nested too deeply`,
  net_no_connection: ({ seconds }) => t`no connection within ${seconds} s`,
  net_no_response: ({ seconds }) => t`no response within ${seconds} s`,
  net_redirect: ({ status, location }) =>
    t`the response was a redirect (${status}), which is not followed, to ${location}`,
  net_status: ({ reason }) => t`the response was ${reason}`,
};
