import { Trans, useLingui } from "@lingui/react/macro";
import { Loader } from "@mantine/core";
import { IconClockOff, IconLinkOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client/api-error.ts";
import { useTitle } from "../common/use-title.ts";
import { readAccess, sharedQuery, storeAccess } from "./api.ts";
import { EmbedPage } from "./embed.tsx";
import { LinkPage } from "./link-page.tsx";
import { Notice, Trouble } from "./notice.tsx";
import { PasswordPage } from "./password.tsx";
import type { LinkUrl } from "./url.ts";

/** The page of a public link: its content, the password prompt, or why it can't be shown. */
export function PublicLinkPage({ address }: { address: LinkUrl }) {
  const { t } = useLingui();
  const { token } = address;
  const [access, setAccess] = useState(() => readAccess(token));
  const query = useQuery(sharedQuery(token, access));
  const apiError = query.error instanceof ApiError ? query.error : null;
  useTitle(query.data === undefined ? t`Shared` : query.data.title);
  if (apiError?.status === 401)
    return (
      <PasswordPage
        token={token}
        isEmbed={address.isEmbed}
        // The stored access token no longer works.
        wasUnlocked={access !== null}
        onUnlock={(given) => {
          storeAccess(token, given);
          setAccess(given);
        }}
      />
    );
  if (apiError?.code === "link_expired")
    return (
      <Notice title={t`This link has expired`} icon={<IconClockOff size={30} stroke={1.5} />}>
        <Trans>Ask the sender for a new one.</Trans>
      </Notice>
    );
  if (apiError?.status === 404)
    return query.data === undefined ? (
      <Notice title={t`Link not found`} icon={<IconLinkOff size={30} stroke={1.5} />}>
        <Trans>This link was removed or is incomplete. Ask the sender for a new one.</Trans>
      </Notice>
    ) : (
      <Notice title={t`This link was removed`} icon={<IconLinkOff size={30} stroke={1.5} />}>
        <Trans>The owner just revoked this link. Ask the sender for a new one.</Trans>
      </Notice>
    );
  if (query.data === undefined)
    return query.isError ? (
      <Trouble error={query.error} retry={() => query.refetch()} />
    ) : (
      <Notice title={t`Loading`} icon={<Loader size={30} />} />
    );
  const Page = address.isEmbed ? EmbedPage : LinkPage;
  return <Page view={query.data} address={address} access={access} />;
}
