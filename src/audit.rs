//! The notes of all projects below a root, for auditing: what may reach a prompt anywhere.
//! Its cost grows with the number of projects; nothing but `--all-projects` uses it.

use crate::config::Orphans;
use crate::effective::{Audience, Judged, judge};
use crate::note::{LayerKind, Scope};
use crate::reach::{Reach, ReadLayer};
use crate::select::Standing;
use crate::store::StatePlace;
use crate::sync::Peeker;
use crate::workspace::{LayerRef, WorkspaceError, all_projects};

/// All layers below a root, read, and the repo layers in reach.
#[derive(Debug)]
pub struct Audit {
    /// The layers in reach of the working directory.
    pub reach: Reach,
    /// The home layers of other projects, by name.
    pub others: Vec<ReadLayer>,
    /// Those that could not be read.
    pub unavailable: Vec<(LayerRef, WorkspaceError)>,
}

/// The notes of one project, or of all.
#[derive(Debug)]
pub struct Group<'a> {
    /// The project's key or pi's name for it; none for the notes of every project.
    pub project: Option<String>,
    /// Its notes, in layer order. Layers are indexes into [`Audit::layers`].
    pub judged: Vec<Judged<'a>>,
}

impl Audit {
    /// Reads the home layers of all other projects.
    pub fn read(reach: Reach, state: Option<StatePlace>) -> Result<Self, WorkspaceError> {
        let peeker = Peeker::new(&reach.workspace.root.path, state);
        let mut others = Vec::new();
        let mut unavailable = Vec::new();
        for project in all_projects(&reach.workspace.root)? {
            if reach.workspace.layers.iter().any(|layer| layer.path == project.path) {
                continue;
            }
            let layer = LayerRef::home(project.path, &project.name);
            match ReadLayer::read(&peeker, layer.clone()) {
                Ok((read, error)) => {
                    others.push(read);
                    unavailable.extend(error.map(|error| (layer, error)));
                }
                Err(error) => unavailable.push((layer, error)),
            }
        }
        Ok(Self { reach, others, unavailable })
    }

    /// All layers, those in reach first.
    pub fn layers(&self) -> Vec<&ReadLayer> {
        self.reach.layers.iter().chain(&self.others).collect()
    }

    /// The notes of every project, then those of this project, then of each other one by
    /// name. Each note is judged for its own project.
    pub fn groups(&self, model: Option<&str>, orphans: Orphans) -> Vec<Group<'_>> {
        let workspace = &self.reach.workspace;
        let layers = self.layers();
        let mut groups = vec![Group { project: None, judged: Vec::new() }];
        let mut here = Group { project: Some(workspace.project.key.clone()), judged: Vec::new() };
        let mut named: Vec<Group<'_>> = Vec::new();

        for judged in self.reach.judge(model, orphans) {
            let is_global = layers[judged.layer].layer.kind == LayerKind::Global;
            if !is_global
                || judged.note.scope() == Some(Scope::Project) && judged.standing != Standing::OtherProject
            {
                here.judged.push(judged);
            } else if judged.note.scope() != Some(Scope::Project) {
                // Shadowed in this project only.
                groups[0].judged.push(judged);
            }
        }
        // A global note that a layer of this project shadows still counts in all others.
        if groups[0].judged.iter().any(|judged| judged.standing == Standing::Shadowed) {
            for (at, read) in
                layers.iter().enumerate().filter(|(_, read)| read.layer.kind == LayerKind::Global)
            {
                let alone = judge_alone(at, read, "", model, orphans);
                for judged in
                    groups[0].judged.iter_mut().filter(|judged| judged.layer == at && judged.is_in_file)
                {
                    let index = judged.note.index();
                    *judged = alone[index].clone();
                }
            }
        }
        for (at, read) in self.others.iter().enumerate() {
            let name = read.layer.project.clone().unwrap_or_default();
            let judged = judge_alone(self.reach.layers.len() + at, read, &name, model, orphans);
            named.push(Group { project: Some(name), judged });
        }
        self.add_scoped(&mut named, model, orphans);
        named.sort_by(|one, other| one.project.cmp(&other.project));
        groups.push(here);
        groups.extend(named);
        groups.retain(|group| !group.judged.is_empty());
        groups
    }

    /// The notes of the global layer that name another project join its group.
    fn add_scoped<'a>(&'a self, named: &mut Vec<Group<'a>>, model: Option<&str>, orphans: Orphans) {
        let project = &self.reach.workspace.project;
        for (at, read) in
            self.reach.layers.iter().enumerate().filter(|(_, read)| read.layer.kind == LayerKind::Global)
        {
            let in_reach = read.in_reach();
            let audience = Audience { is_current: &|_| true, model, orphans };
            for mut judged in judge(&[in_reach], &audience) {
                if judged.note.scope() != Some(Scope::Project) {
                    continue;
                }
                // Without a name it is for nobody, and is listed last under no name.
                let name = judged.note.project().unwrap_or_default().into_owned();
                if project.is_named(&name) {
                    continue;
                }
                judged.layer = at;
                let known = named.iter().position(|group| group.project.as_deref() == Some(&*name));
                let known = known.unwrap_or_else(|| {
                    named.push(Group { project: Some(name), judged: Vec::new() });
                    named.len() - 1
                });
                let group = &mut named[known];
                if let Some(holder) = group.judged.iter().find(|one| one.layer != at && one.id == judged.id) {
                    judged.standing = Standing::Shadowed;
                    judged.shadowed_by = Some(holder.layer);
                }
                // The global layer is the lowest, so its notes come first.
                let before = group.judged.iter().take_while(|one| one.layer == at).count();
                group.judged.insert(before, judged);
            }
        }
    }
}

/// The notes of one layer, judged without any other. One for each note, in their order.
fn judge_alone<'a>(
    at: usize,
    read: &'a ReadLayer,
    project: &str,
    model: Option<&str>,
    orphans: Orphans,
) -> Vec<Judged<'a>> {
    let is_current = |name: &str| name == project;
    let layer = read.in_reach();
    let mut judged = judge(&[layer], &Audience { is_current: &is_current, model, orphans });
    for one in &mut judged {
        one.layer = at;
    }
    judged
}
