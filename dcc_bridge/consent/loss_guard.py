"""The judge of one call: may its edits stay, and has a person agreed to what they lose?

The judge asks the call's ledger, on two occasions:

- At the end of each stretch (`undo_steps` defines the word): what the stretch edited and lost is
  read from the host. `LossGuard.refusal` returns why it must not stay.
- Before a loss that undo does not bring back, if the host warns of it (`Host.losing`): the scene is
  about to be closed, or a file to be written over. `LossGuard.check_loss` refuses it.

While a body is tried, acts outside the scene, such as to open a file for writing, are refused
without a look at the ledger: see `LossGuard.watching`. Main thread.

The words: the *body* is the function of a skill. A *trial* is one run of it in an open undo step,
which can still be reverted. The *ledger* holds what a person agreed to in this call, its *grants*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Final

from dcc_bridge.audit.trail import RunRecord
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.copies import keep_checkpoint
from dcc_bridge.consent.loss import Loss, UnauthorizedLoss
from dcc_bridge.consent.preview import Preview
from dcc_bridge.errors import BridgeError, Ended, NoConsent, NotGranted, NotRecorded
from dcc_bridge.host import Host, Trial

_OF: Final = " of "  # in the name of each part of an item: "modifier Bevel of Cube"


class LossGuard:
    """The judge of what one call edits and loses.

    Attributes:
        is_reading: Whether a part runs that must not edit at all.
        unauthorized: The last loss at the end of a stretch that nobody had agreed to. A body may
            have caught the error.
        is_other_scene: Whether the body was allowed to close the scene since this was last reset.
        watching: Makes the block around each stretch in which acts outside the scene are refused;
            see `dcc_bridge.consent.outside`.
        preview: Draws what the call is about to lose.
    """

    def __init__(
        self, host: Host, call: Call, record: RunRecord, label: str, preview: Preview | None = None
    ) -> None:
        """Prepare the judge of a call.

        Args:
            host: The host of the scene.
            call: The call.
            record: The record that the scene may be changed.
            label: The label of the call's undo steps, for the record.
            preview: Draws what the call is about to lose; None for no pictures.
        """
        self._host = host
        self._call = call
        self._record = record
        self._label = label
        self._part = call.skill  # the name of the part that runs, for an error about its edits
        self._is_over = False
        self.is_reading = False
        self.unauthorized: UnauthorizedLoss | None = None
        self.is_other_scene = False
        self.watching: Callable[[], AbstractContextManager[None]] = nullcontext
        self.preview = preview or Preview()

    @contextmanager
    def reading(self, part: str) -> Iterator[None]:
        """Refuse each edit in the block.

        Args:
            part: The name of the part that reads, for the error; "" for the whole body.
        """
        was_reading = self.is_reading
        self.is_reading = True
        if part:
            self._part = part
        try:
            yield
        finally:
            self.is_reading = was_reading
            self._part = self._call.skill

    def close(self) -> None:
        """End the call: the edits so far stand, and each later one is refused. Any thread."""
        self._is_over = True

    def check_open(self) -> None:
        """Raise Ended if the call is over."""
        if self._is_over:
            raise Ended(self._call.title)

    def note_begin(self) -> None:
        """Write into the record, once, that the scene may be changed from now on, if it may.

        Raises:
            NotRecorded: The record cannot be written, so nothing may be changed.
        """
        if self._may_change and not self.is_reading:
            self._record.begin(self._host, self._label)

    def note_write(self) -> None:
        """Write into the record, once, that the call writes files, which no undo step holds.

        Raises:
            NotRecorded: The record cannot be written, so nothing may be written.
        """
        self._record.begin(self._host, "")

    def refusal(self, trial: Trial | None = None) -> BridgeError | None:
        """Return why the edits of the newest stretch must not stay; None if they may.

        Args:
            trial: The trial of the open step, which knows what the edits broke; None if the step is
                closed.
        """
        if self._is_over:  # the call ended while the step was open
            return Ended(self._call.title)
        if self.is_reading or not self._may_change:
            return NoConsent(self._part)
        loss = self._unauthorized_loss(trial)
        if loss is not None:
            self.unauthorized = UnauthorizedLoss(self._part, loss)
            return self.unauthorized
        if not self._record.has_begun:
            return NotRecorded("it could not be when the skill was granted its edit.")
        return None

    def check_loss(self, what: str, files: Sequence[Path]) -> None:
        """Refuse a loss that undo does not bring back, unless a person agreed to that.

        Of an agreed loss a copy is kept first, if there is none of the scene as it is now.

        Args:
            what: The loss: "open another file in place of shot.blend"; see `Host.losing`.
            files: The files that are lost; empty for the scene.

        Raises:
            Ended: The call is over.
            NotGranted: Nobody agreed to the loss.
            NoCheckpoint: No copy can be kept.
        """
        lasting = self._call.lasting
        self.check_open()
        if not self._call.ledger.allows_loss(files):
            raise NotGranted(self._call.skill, what)
        lasting.lost.append(what)
        self.is_other_scene = self.is_other_scene or not files
        if lasting.copied_at != self._host.undo_mark():  # the scene was edited since the copy
            lasting.copied_files.clear()
        missing = [file for file in files if file not in lasting.copied_files]
        if missing or (not files and None not in lasting.copied_files):
            keep_checkpoint(self._call, missing or None)

    @property
    def _may_change(self) -> bool:
        """Whether the skill may edit, and has a grant if it needs one."""
        return self._call.risk != "read" and self._call.ledger.allows_change

    def _unauthorized_loss(self, trial: Trial | None) -> Loss | None:
        """Return the loss of the newest stretch that nobody agreed to; None for no loss."""
        agreed = self._call.ledger.agreed_items
        lost = list[str]()
        if agreed is not None:
            lost = self._lost(agreed)
        lost += [item for item in self._kept_but_gone() if item not in lost]
        if not lost:
            return None
        breaks = list[str]()
        if trial is not None:
            breaks = trial.broken()
            self.preview.draw_after(lost)
        return Loss(tuple(lost), tuple(breaks))

    def _kept_but_gone(self) -> list[str]:
        """Return the unticked items that are gone, such as one below an item that was agreed to."""
        kept = self._call.ledger.kept_items
        if not kept:
            return []
        kinds = self._host.kinds(kept)
        return [item for item, kind in zip(kept, kinds, strict=True) if kind == "gone"]

    def _lost(self, agreed: Sequence[str]) -> list[str]:
        """Return the things that the newest stretch took away, except for the agreed items.

        A part of an item is left out if an edit may take parts of that item away.
        """
        lost = self._host.lost(agreed)
        edited = self._call.ledger.parts
        if not lost or not edited:
            return lost
        lost_elsewhere = set(self._host.lost([*agreed, *edited]))
        remaining = list[str]()
        for thing in lost:
            is_part = _OF in thing
            if thing in lost_elsewhere or thing in edited or not is_part:
                remaining.append(thing)
        return remaining
