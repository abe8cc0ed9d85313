import { Loader } from "@mantine/core";
import { IconClockOff, IconLinkOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import { useTitle } from "../common/use-title.ts";
import type { SharedAddress } from "./address.ts";
import { keepAccess, readAccess, sharedQuery } from "./api.ts";
import { EmbedPage } from "./embed.tsx";
import { LinkPage } from "./link-page.tsx";
import { Notice, Trouble } from "./notice.tsx";
import { PasswordPage } from "./password.tsx";

/** What a public link shows to whoever has it, or why it shows nothing. */
export function SharedLink({ address }: { address: SharedAddress }) {
  const { token } = address;
  const [access, setAccess] = useState(() => readAccess(token));
  const query = useQuery(sharedQuery(token, access));
  const refusal = query.error instanceof ApiError ? query.error : null;
  useTitle(query.data === undefined ? "Shared" : query.data.title);
  if (refusal?.status === 401)
    return (
      <PasswordPage
        token={token}
        isEmbed={address.isEmbed}
        // What opened it before does not any more.
        wasOpen={access !== null}
        onOpen={(given) => {
          keepAccess(token, given);
          setAccess(given);
        }}
      />
    );
  if (refusal?.code === "link_expired")
    return (
      <Notice title="This link has expired" icon={<IconClockOff size={30} stroke={1.5} />}>
        Whoever shared it can give you another one.
      </Notice>
    );
  if (refusal?.status === 404)
    return query.data === undefined ? (
      <Notice title="Nothing is here" icon={<IconLinkOff size={30} stroke={1.5} />}>
        The link was taken back, or its address is not complete. Ask whoever sent it to you.
      </Notice>
    ) : (
      <Notice title="This link was taken back" icon={<IconLinkOff size={30} stroke={1.5} />}>
        Whoever shared it ended that just now. Ask them if you still need it.
      </Notice>
    );
  if (query.data === undefined)
    return query.isError ? (
      <Trouble error={query.error} retry={() => query.refetch()} />
    ) : (
      <Notice title="Loading" icon={<Loader size={30} />} />
    );
  const Page = address.isEmbed ? EmbedPage : LinkPage;
  return <Page view={query.data} address={address} access={access} />;
}
