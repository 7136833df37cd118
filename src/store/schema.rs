//! The tables, as a list of steps. A step is never edited once released.

/// `PRAGMA user_version` counts the steps that were taken.
pub(super) const MIGRATIONS: &[&str] = &[
    "
    -- A layer's file below one root, by its path without links in the folders above.
    CREATE TABLE layer (
        id INTEGER PRIMARY KEY,
        root BLOB NOT NULL,
        path BLOB NOT NULL,
        -- The stat that the newest version was read with; NULL is `look again`.
        size INTEGER, modified INTEGER, inode INTEGER,
        -- SHA-256 of what the file held when it was last looked at.
        seen BLOB,
        -- What counts instead of what the file says, and why (JSON, see `view`).
        view TEXT,
        -- Online changes that the file does not have yet: from one content to another.
        waiting_from BLOB, waiting_to BLOB,
        UNIQUE (root, path)
    ) STRICT;

    -- Texts by SHA-256. What a text shares with its base at both ends is not stored.
    CREATE TABLE content (
        hash BLOB PRIMARY KEY,
        size INTEGER NOT NULL,
        base BLOB, prefix INTEGER NOT NULL, suffix INTEGER NOT NULL, depth INTEGER NOT NULL,
        middle BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE version (
        id INTEGER PRIMARY KEY,
        layer INTEGER NOT NULL REFERENCES layer (id) ON DELETE CASCADE,
        hash BLOB NOT NULL REFERENCES content (hash),
        origin TEXT NOT NULL,
        revision TEXT NOT NULL,
        at INTEGER NOT NULL,
        batch TEXT NOT NULL
    ) STRICT;
    CREATE INDEX version_of_layer ON version (layer, id);
    CREATE INDEX version_of_content ON version (hash);

    CREATE TABLE note (
        layer INTEGER NOT NULL REFERENCES layer (id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        versions INTEGER NOT NULL,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        uses INTEGER NOT NULL DEFAULT 0,
        used INTEGER,
        PRIMARY KEY (layer, id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE change (
        id INTEGER PRIMARY KEY,
        batch TEXT NOT NULL,
        at INTEGER NOT NULL,
        who TEXT NOT NULL,
        layer INTEGER NOT NULL REFERENCES layer (id) ON DELETE CASCADE,
        note TEXT NOT NULL,
        op TEXT NOT NULL,
        before TEXT, after TEXT,
        reason TEXT, evidence TEXT
    ) STRICT;
    CREATE INDEX change_of_note ON change (note, id);
    CREATE INDEX change_of_batch ON change (batch);

    CREATE TABLE conflict (
        id INTEGER PRIMARY KEY,
        batch TEXT NOT NULL,
        at INTEGER NOT NULL,
        layer INTEGER NOT NULL REFERENCES layer (id) ON DELETE CASCADE,
        note TEXT, field TEXT,
        kept TEXT, lost TEXT,
        from_version INTEGER, to_version INTEGER,
        settled INTEGER
    ) STRICT;
    CREATE INDEX conflict_of_note ON conflict (note);

    CREATE TABLE archive (
        id INTEGER PRIMARY KEY,
        batch TEXT NOT NULL,
        at INTEGER NOT NULL,
        layer INTEGER NOT NULL REFERENCES layer (id) ON DELETE CASCADE,
        note TEXT NOT NULL,
        text TEXT NOT NULL,
        why TEXT NOT NULL,
        returned INTEGER
    ) STRICT;
    CREATE INDEX archive_of_note ON archive (note);

    -- Whose a private layer is: a key is a label, this is the evidence.
    CREATE TABLE claim (
        root BLOB NOT NULL,
        name TEXT NOT NULL,
        evidence TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (root, name)
    ) STRICT, WITHOUT ROWID;
",
    "
    -- Which repositories the user has trusted: this is the evidence of which one it was.
    CREATE TABLE trust (
        id INTEGER PRIMARY KEY,
        tree BLOB NOT NULL UNIQUE,
        evidence TEXT NOT NULL,
        pinned INTEGER NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;

    -- What the user has seen of the notes there, by the layer's path inside the work tree.
    CREATE TABLE reviewed (
        id INTEGER PRIMARY KEY,
        trust INTEGER NOT NULL REFERENCES trust (id) ON DELETE CASCADE,
        path BLOB NOT NULL,
        note TEXT NOT NULL,
        -- SHA-256 of what the note says.
        says BLOB NOT NULL,
        -- The note as a layer of its own.
        text TEXT NOT NULL,
        accepted INTEGER NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (trust, path, note, says)
    ) STRICT;
",
];
