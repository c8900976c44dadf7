//! Views: what they show, and copies between any two, against a model on the host.

use crate::suite::{buffer_of, refused};
use interop_core::Result;
use pixelferry_opencl::{Buffer, Context, ContextOptions, Device, Element, MemFlags, NdView, Queue};
use pixelferry_testing::{Dice, by_level};
use std::sync::Arc;

/// Views with gaps and turned ones, of parts.
pub fn of_parts(queue: &Queue) -> Result<()> {
    let numbers: Vec<f32> = (0..4096).map(|i| i as f32).collect();
    let buffer = buffer_of(queue, &numbers)?;
    let start = buffer.part_alignment()?;
    let first = start / 4;
    let part = buffer.part(MemFlags::NONE, start..start + 4 * 60)?;
    let view = NdView::<f32>::new(&part, &[3, 4, 5])?;
    let at = |z: usize, y: usize, x: usize| first + 20 * z + 5 * y + x;
    let read = |view: &NdView<f32>| queue.read_view(view, &[])?.wait();
    // A box, rows of single values, and what only a kernel copies.
    let column: Vec<f32> = (0..4).map(|y| numbers[at(1, y, 2)]).collect();
    assert_eq!(read(&view.index(0, 1)?.index(1, 2)?)?, column);
    let back: Vec<f32> = (0..4).rev().map(|y| numbers[at(1, y, 2)]).collect();
    assert_eq!(read(&view.index(0, 1)?.index(1, 2)?.slice(0, 0..4, -1)?)?, back);
    assert_eq!(read(&view.transpose())?[..3], [numbers[at(0, 0, 0)], numbers[at(1, 0, 0)], numbers[at(2, 0, 0)]]);
    // Between parts of one buffer, and written and filled.
    let other = buffer.part(MemFlags::NONE, 4 * start..4 * start + 4 * 60)?;
    let to = NdView::<f32>::new(&other, &[3, 4, 5])?;
    queue.copy_view(&view.index(2, 1)?, &to.index(2, 3)?, &[])?;
    queue.write_view(&to.index(2, 0)?.index(0, 2)?, vec![-1.0, -2.0, -3.0, -4.0], &[])?;
    queue.fill_view(&to.index(2, 4)?, -9.0, &[])?;
    let mut model = numbers.clone();
    for (z, y) in (0..3).flat_map(|z| (0..4).map(move |y| (z, y))) {
        let target = start + 20 * z + 5 * y; // 4 * start bytes
        model[target + 3] = numbers[at(z, y, 1)];
        model[target + 4] = -9.0;
        if z == 2 {
            model[target] = -1.0 - y as f32;
        }
    }
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, model);
    Ok(())
}

pub fn copies(queue: &Queue) -> Result<()> {
    let data: Vec<f32> = (0..60).map(|i| i as f32).collect();
    let buffer = buffer_of(queue, &data)?;
    let view = NdView::<f32>::new(&buffer, &[3, 4, 5])?;
    assert_eq!((view.len(), view.strides(), view.is_contiguous()), (60, &[20isize, 5, 1][..], true));
    let read = |view: &NdView<f32>| queue.read_view(view, &[])?.wait();

    assert_eq!(read(&view)?, data);
    assert_eq!(read(&view.item(&[2, 3, 4])?)?, [59.0]);
    assert_eq!(read(&view.index(0, 1)?.index(0, 2)?)?, [30.0, 31.0, 32.0, 33.0, 34.0]);
    assert_eq!(read(&view.slice(2, 1..5, 2)?.index(0, 0)?)?, [1.0, 3.0, 6.0, 8.0, 11.0, 13.0, 16.0, 18.0]);
    assert_eq!(read(&view.index(0, 0)?.index(0, 0)?.slice(0, 0..5, -2)?)?, [4.0, 2.0, 0.0]);
    assert_eq!(read(&view.reshape(&[12, 5])?.transpose().index(0, 4)?)?[..3], [4.0, 9.0, 14.0]);
    let turned = view.permute(&[2, 0, 1])?;
    assert_eq!(turned.shape(), [5, 3, 4]);
    assert_eq!(read(&turned)?[..5], [0.0, 5.0, 10.0, 15.0, 20.0]);
    refused(turned.reshape(&[60]), &[]);
    let (contiguous, copied) = queue.contiguous(&turned, &[])?;
    copied.wait()?;
    assert_eq!(read(&contiguous.reshape(&[60])?)?, read(&turned)?);

    queue.fill_view(&view.slice(1, 1..2, 1)?, -1.0, &[])?;
    queue.write_view(&view.index(2, 0)?.index(0, 2)?, vec![100.0, 101.0, 102.0, 103.0], &[])?;
    let mut model = data;
    for z in 0..3 {
        model[z * 20 + 5..z * 20 + 10].fill(-1.0);
    }
    for y in 0..4 {
        model[40 + 5 * y] = 100.0 + y as f32;
    }
    assert_eq!(read(&view)?, model);

    // Values that clEnqueueFillBuffer does not take.
    let triples = NdView::<[f32; 3]>::new(&buffer, &[20])?;
    queue.fill_view(&triples.slice(0, 1..19, 1)?, [1.0, 2.0, 3.0], &[])?;
    model[3..57].copy_from_slice(&[1.0, 2.0, 3.0].repeat(18));
    assert_eq!(read(&view)?, model);

    refused(NdView::<f32>::new(&buffer, &[61]), &[]);
    refused(NdView::<f32>::new(&buffer, &[0, 60]), &[]);
    refused(NdView::<f32>::with_strides(&buffer, 1, &[60], &[1]), &[]);
    refused(NdView::<f32>::with_strides(&buffer, 3, &[5], &[-1]), &[]);
    refused(NdView::<f32>::with_strides(&buffer, 0, &[2, usize::MAX], &[1, 1]), &[]);
    refused(NdView::<f32>::with_strides(&buffer, 0, &[2], &[isize::MAX]), &[]);
    refused(view.slice(1, 2..2, 1), &[]);
    refused(view.slice(1, 0..5, 1), &[]);
    refused(view.slice(3, 0..1, 1), &[]);
    refused(view.slice(1, 0..4, 0), &[]);
    refused(view.index(0, 3), &[]);
    refused(view.item(&[0, 0]), &[]);
    refused(view.permute(&[0, 0, 1]), &[]);
    refused(view.reshape(&[7]), &[]);
    refused(queue.copy_view(&view, &view, &[]), &[]);
    refused(queue.copy_view(&view, &contiguous, &[]), &[]);
    refused(queue.write_view(&view, vec![0.0], &[]), &[]);
    let_go_of(queue.device())
}

/// The kernel that a context keeps for copies does not keep the context.
fn let_go_of(device: &Device) -> Result<()> {
    let held = Arc::new(());
    let holds = held.clone();
    let options = ContextOptions::new().on_error(move |_| drop(holds.clone()));
    {
        let queue = Queue::new(&Context::with_options(std::slice::from_ref(device), options)?)?;
        let buffer = buffer_of(&queue, &[1u32, 2, 3])?;
        let back = NdView::<u32>::new(&buffer, &[3])?.slice(0, 0..3, -1)?;
        assert_eq!(queue.read_view(&back, &[])?.wait()?, [3, 2, 1]);
    }
    assert_eq!(Arc::strong_count(&held), 1, "the context is still there");
    Ok(())
}

/// Views in place: what a map shows, what it changes, and what stays.
pub fn maps(queue: &Queue) -> Result<()> {
    let data: Vec<f32> = (0..60).map(|i| i as f32).collect();
    let buffer = buffer_of(queue, &data)?;
    let view = NdView::<f32>::new(&buffer, &[3, 4, 5])?;
    let turned = view.slice(0, 1..3, 1)?.permute(&[2, 0, 1])?.slice(2, 0..4, -2)?;
    for view in [&view, &turned, &view.item(&[2, 3, 4])?, &view.index(0, 1)?] {
        let map = queue.map_view_read(view, &[])?;
        let wants: Vec<f32> = places(view).into_iter().map(|at| data[at]).collect();
        assert_eq!(map.values().copied().collect::<Vec<_>>(), wants, "{view:?}");
        assert_eq!(map.as_slice(), view.is_contiguous().then_some(&wants[..]), "{view:?}");
        map.unmap()?;
    }
    let map = queue.map_view_read(&turned, &[])?;
    assert_eq!(
        (map.get(&[4, 1, 0]), map.get(&[0, 0, 1]), map.view().shape()),
        (Some(&59.0), Some(&25.0), &[5, 2, 2][..])
    );
    assert_eq!((map.get(&[5, 0, 0]), map.get(&[0, 0])), (None, None));
    // Several may read, and nobody may write meanwhile.
    let other = queue.map_view_read(&view, &[])?;
    refused(queue.fill_view(&view, 0.0, &[]), &[]);
    refused(queue.map_view_write(&view.index(0, 2)?, &[]), &[]);
    drop((map, other));

    let mut model = data;
    let column = view.index(2, 3)?;
    let mut map = queue.map_view_write(&column, &[])?;
    map.for_each(|value| *value = -*value);
    *map.get_mut(&[0, 1]).unwrap() = 1000.0;
    assert_eq!(map.get(&[0, 0]), Some(&-3.0));
    assert!(map.get_mut(&[3, 0]).is_none() && map.as_mut_slice().is_none());
    map.unmap()?.wait()?;
    places(&column).into_iter().for_each(|at| model[at] = -model[at]);
    model[8] = 1000.0;
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, model);
    let mut map = queue.map_view_write(&view.index(0, 1)?, &[])?;
    map.as_mut_slice().unwrap().fill(7.0);
    assert!(map.values().all(|value| *value == 7.0));
    drop(map);
    model[20..40].fill(7.0);
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, model);
    Ok(())
}

/// Tells where each value of a view lies, row-major.
fn places<T: Element>(view: &NdView<T>) -> Vec<usize> {
    (0..view.len())
        .map(|mut rest| {
            let mut at = view.offset() as isize;
            for (side, stride) in view.shape().iter().zip(view.strides()).rev() {
                at += (rest % side) as isize * stride;
                rest /= side;
            }
            at as usize
        })
        .collect()
}

fn random_view<T: Element>(dice: &mut Dice, buffer: &Buffer) -> Result<NdView<T>> {
    let mut view = NdView::new(buffer, &[6, 5, 4, 7])?;
    for axis in 0..4 {
        let side = view.shape()[axis];
        let start = dice.below(side - 2);
        let step = *dice.pick(&[1, 1, 1, -1, 2]);
        view = view.slice(axis, start..start + 2 + dice.below(side - start - 1), step)?;
    }
    let mut axes = vec![0, 1, 2, 3];
    axes.swap(dice.below(4), dice.below(4));
    view.permute(&axes)
}

fn against_model<T: Element + PartialEq + std::fmt::Debug>(
    queue: &Queue,
    dice: &mut Dice,
    value: impl Fn(usize) -> T,
) -> Result<()> {
    let data: Vec<T> = (0..840).map(&value).collect();
    let from = buffer_of(queue, &data)?;
    for _ in 0..by_level(3, 12, 12) {
        let mut model: Vec<T> = (0..840).map(|i| value(i + 5000)).collect();
        let to = buffer_of(queue, &model)?;
        let source = random_view::<T>(dice, &from)?;
        let target = random_view::<T>(dice, &to)?;
        // The part that both have.
        let cut = |view: NdView<T>, other: &NdView<T>| {
            (0..4).try_fold(view, |view, axis| view.slice(axis, 0..view.shape()[axis].min(other.shape()[axis]), 1))
        };
        let (source, target) = (cut(source.clone(), &target)?, cut(target, &source)?);
        queue.copy_view(&source, &target, &[])?;
        for (a, b) in places(&source).into_iter().zip(places(&target)) {
            model[b] = data[a];
        }
        assert_eq!(queue.read_all::<T>(&to, &[])?, model, "{source:?} to {target:?}");
    }
    Ok(())
}

pub fn model(queue: &Queue) -> Result<()> {
    let dice = &mut Dice(7);
    against_model(queue, dice, |i| i as u8)?;
    against_model(queue, dice, |i| i as f32)?;
    against_model(queue, dice, |i| [i as u16, 1, 2])?;
    against_model(queue, dice, |i| [i as f64, 0.5])
}
