import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Modal, Select } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type Delivery,
  type DeliveryState,
  deliveriesQuery,
  type Hook,
} from "../../api/settings/webhooks.ts";
import { ServerText } from "../../common/format/server-text.tsx";
import { dayAndTime, whenInLine } from "../../common/format/time.ts";
import { LoadMore } from "../../common/lists/load-more.tsx";
import { ErrorState } from "../../common/states.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, Section } from "../parts.tsx";
import { DeliveryView } from "./delivery.tsx";
import { DeliveryTag, deliveryStates } from "./delivery-tag.tsx";

/** A webhook's deliveries, newest first. */
export function Deliveries({ hook, canManage }: { hook: Hook; canManage: boolean }) {
  const { t } = useLingui();
  const [state, setState] = useState<DeliveryState | null>(null);
  const [shown, setShown] = useState<Delivery | null>(null);
  return (
    <Section
      title={t`Deliveries`}
      lead={t`Kept for 30 days.`}
      action={
        <Select
          size="xs"
          w={150}
          aria-label={t`State`}
          placeholder={t`All`}
          clearable
          data={Object.entries(deliveryStates).map(([value, { label }]) => ({
            value,
            label: t(label),
          }))}
          value={state}
          onChange={(value) => setState(value as DeliveryState | null)}
        />
      }
    >
      <DeliveryList hook={hook} state={state} show={setShown} />
      <Modal
        opened={shown !== null}
        onClose={() => setShown(null)}
        title={t`Delivery`}
        size="xl"
        centered
        keepMounted={false}
      >
        {shown === null ? null : <DeliveryView hook={hook} deliveryId={shown.id} canManage={canManage} />}
      </Modal>
    </Section>
  );
}

interface ListProps {
  hook: Hook;
  state: DeliveryState | null;
  show: (delivery: Delivery) => void;
}

function DeliveryList({ hook, state, show }: ListProps) {
  const { t } = useLingui();
  const query = useInfiniteQuery(deliveriesQuery(hook.id, state));
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const deliveries = query.data.pages.flatMap(({ deliveries }) => deliveries);
  if (deliveries.length === 0)
    return <NoneYet>{state === null ? t`No deliveries yet.` : t`No matching deliveries.`}</NoneYet>;
  return (
    <div>
      <Rows label={t`Deliveries`}>
        {deliveries.map((delivery) => (
          <DeliveryRow key={delivery.id} hook={hook} delivery={delivery} show={show} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

function DeliveryRow({ hook, delivery, show }: Omit<ListProps, "state"> & { delivery: Delivery }) {
  const { t } = useLingui();
  const { state, attempts, last_status: status } = delivery;
  const time = whenInLine(delivery.created_datetime);
  const next = delivery.due_datetime === null ? null : whenInLine(delivery.due_datetime);
  return (
    <Row
      title={dayAndTime(delivery.created_datetime)}
      badges={<DeliveryTag state={state} />}
      facts={[
        delivery.subject_id === hook.id ? t`test event` : null,
        plural(attempts, { one: "# attempt", other: "# attempts" }),
        status === null ? null : t`response ${status}`,
        delivery.last_error !== null && <ServerText key="error" text={delivery.last_error} />,
        next === null || attempts === 0 ? null : t`next attempt ${next}`,
      ]}
      actions={
        <Button
          variant="subtle"
          size="compact-sm"
          aria-label={t`Details of delivery ${time}`}
          onClick={() => show(delivery)}
        >
          <Trans>Details</Trans>
        </Button>
      }
    />
  );
}
